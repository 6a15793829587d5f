package io.ofi4j.job;

import io.ofi4j.FabricTimeoutException;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.Launcher;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.RendezvousPoint;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * The rendezvous of a job, which rank 0 serves: one connection for requests, and one that waits for the loss of a rank.
 */
final class JobMembers {
    private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(2);
    /** The length of one wait for the loss of a rank. The next wait follows it. */
    private static final Duration WATCH_TIME = Duration.ofMinutes(10);
    /** A name that is never published. The wait for it ends when a rank is lost. */
    private static final String NEVER = "never";
    /** The name under which rank 0, which serves, says who it is. */
    private static final String SERVER = "who is rank 0";

    private final Rendezvous rendezvous;
    private final Rendezvous failureWatch;
    /** Rank 0, with its process and host. */
    private final String server;
    private volatile String lost;
    private volatile boolean closed;

    private JobMembers(Rendezvous rendezvous, Rendezvous failureWatch, String server) {
        this.rendezvous = rendezvous;
        this.failureWatch = failureWatch;
        this.server = server;
    }

    /** Serves at rank 0, and joins at other ranks with the line that the launcher brings. */
    static JobMembers join(Launcher launcher, String who, Deadline deadline, UnaryOperator<String> exchange) {
        return join(launcher, who, deadline, exchange, WATCH_TIME);
    }

    static JobMembers join(Launcher launcher, String who, Deadline deadline, UnaryOperator<String> exchange,
            Duration watchTime) {
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
            failureWatch = Rendezvous.join(joined.address(), point.secret(), deadline.left());
            joined.enter(launcher.rank(), who);
            if (served != null) { served.publish(SERVER, who.getBytes(StandardCharsets.UTF_8)); }
            JobMembers members = new JobMembers(joined, failureWatch,
                    new String(joined.await(SERVER, deadline.left()), StandardCharsets.UTF_8));
            Thread.ofPlatform().daemon().name("ofi4j-job-watch").start(() -> members.awaitFailure(watchTime));
            return members;
        } catch (Throwable t) {
            if (failureWatch != null) { failureWatch.close(); }
            if (joined != null) { joined.close(); }
            if (served != null) { served.close(); }
            if (t instanceof RendezvousException || t instanceof FabricTimeoutException
                    || t instanceof LauncherException || t instanceof IllegalArgumentException) {
                throw new JobException(
                        "rank " + launcher.rank() + " of " + launcher.size() + " did not join: " + t.getMessage(), t);
            }
            throw t;
        }
    }

    /** Joins at the first address that works. It tries them again and again until the deadline. */
    private static Rendezvous join(RendezvousPoint point, Deadline deadline) {
        boolean isOnlyOne = point.addresses().size() == 1;
        while (true) {
            for (InetSocketAddress address : point.addresses()) {
                try {
                    return Rendezvous.join(address, point.secret(),
                            (isOnlyOne ? deadline : deadline.atMost(ATTEMPT_TIMEOUT)).left());
                } catch (RendezvousException e) {
                    if (deadline.isOver() || isOnlyOne) { throw e; }
                }
            }
        }
    }

    private void awaitFailure(Duration watchTime) {
        while (true) {
            try {
                failureWatch.await(NEVER, watchTime);
            } catch (FabricTimeoutException e) {
                continue; // no rank was lost
            } catch (RendezvousException e) {
                if (!closed) { lost = why(e); }
                return;
            } catch (IllegalStateException e) {
                return; // closed
            }
        }
    }

    /** {@return why a call has failed, which names the rank that was lost if it is known} */
    String why(RendezvousException failure) {
        if (lost != null) { return lost; }
        return failure.isServerGone() ? server + " has ended without leaving" : failure.getMessage();
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
