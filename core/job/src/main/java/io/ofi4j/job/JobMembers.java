package io.ofi4j.job;

import io.ofi4j.job.internal.Launcher;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.RendezvousPoint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * The rendezvous of a job, which rank 0 serves: one connection for requests, and one that waits for the loss of a rank.
 */
final class JobMembers {
    private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofDays(1);
    /** A name that is never published. The wait for it ends when a rank is lost. */
    private static final String NEVER = "never";

    private final Rendezvous rendezvous;
    private final Rendezvous failureWatch;
    private volatile String lost;
    private volatile boolean closed;

    private JobMembers(Rendezvous rendezvous, Rendezvous failureWatch) {
        this.rendezvous = rendezvous;
        this.failureWatch = failureWatch;
    }

    /** Serves at rank 0, and joins at other ranks with the line that the launcher brings. */
    static JobMembers join(Launcher launcher, String who, Duration deadline, UnaryOperator<String> exchange) {
        Rendezvous served = null;
        Rendezvous joined = null;
        Rendezvous failureWatch = null;
        try {
            String host = RendezvousPoint.thisHost();
            String secret = Rendezvous.newSecret();
            String line = "";
            if (launcher.rank() == 0 && launcher.listensAt().getPort() == 0) {
                served = Rendezvous.serve(launcher.listensAt(), secret);
                line = RendezvousPoint.line(secret, host, served.address());
            }
            RendezvousPoint point = RendezvousPoint.of(exchange.apply(line), host);
            if (launcher.rank() == 0 && served == null) {
                served = Rendezvous.serve(launcher.listensAt(), point.secret());
            }
            joined = served != null ? served : join(point, deadline);
            failureWatch = Rendezvous.join(joined.address(), point.secret(), deadline);
            joined.enter(launcher.rank(), who);
            JobMembers members = new JobMembers(joined, failureWatch);
            Thread.ofPlatform().daemon().name("ofi4j-job-news").start(members::awaitFailure);
            return members;
        } catch (Throwable t) {
            if (failureWatch != null) { failureWatch.close(); }
            if (joined != null) { joined.close(); }
            if (served != null) { served.close(); }
            if (t instanceof RendezvousException || t instanceof LauncherException
                    || t instanceof IllegalArgumentException) {
                throw new JobException(
                        "rank " + launcher.rank() + " of " + launcher.size() + " did not join: " + t.getMessage(), t);
            }
            throw t;
        }
    }

    /** Joins at the first address that works. It tries them again and again until the deadline. */
    private static Rendezvous join(RendezvousPoint point, Duration deadline) {
        long end = System.nanoTime() + deadline.toNanos();
        while (true) {
            for (InetSocketAddress address : point.addresses()) {
                try {
                    return Rendezvous.join(address, point.secret(),
                            point.addresses().size() == 1 ? deadline : ATTEMPT_TIMEOUT);
                } catch (RendezvousException e) {
                    if (System.nanoTime() > end || point.addresses().size() == 1) { throw e; }
                }
            }
        }
    }

    private void awaitFailure() {
        try {
            while (true) {
                failureWatch.await(NEVER, LONG);
            }
        } catch (RendezvousException e) {
            if (!closed) {
                lost = e.getMessage().startsWith("rank ") ? e.getMessage() : "rank 0 has gone: " + e.getMessage();
            }
        } catch (IllegalStateException e) {
            return; // closed
        }
    }

    /** {@return what has happened to a lost rank, or null} */
    String lost() { return lost; }

    Rendezvous rendezvous() { return rendezvous; }

    void fail(String why) {
        try {
            rendezvous.fail(why);
        } catch (RendezvousException | IllegalStateException e) {
            return; // there is no caller to tell
        }
    }

    void close(Duration deadline) {
        closed = true;
        rendezvous.awaitDepartures(deadline);
        rendezvous.close();
        failureWatch.close();
    }
}
