package io.ofi4j.job;

import io.ofi4j.job.internal.Launcher;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.Meeting;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * The rendezvous of a job, which rank 0 serves: one connection for requests, and one that waits for the loss of a rank.
 */
final class JobMembers {
    private static final Duration ATTEMPT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofDays(1);
    /** A name that is never published. The wait for it ends when a rank is lost. */
    private static final String NEVER = "never";

    private final Rendezvous rendezvous;
    private final Rendezvous news;
    private volatile String lost;
    private volatile boolean closed;

    private JobMembers(Rendezvous rendezvous, Rendezvous news) {
        this.rendezvous = rendezvous;
        this.news = news;
    }

    /** Serves at rank 0, and joins at other ranks with the line that the launcher brings. */
    static JobMembers meet(Launcher launcher, String who, Duration deadline, UnaryOperator<String> exchange) {
        Rendezvous served = null;
        Rendezvous joined = null;
        Rendezvous news = null;
        try {
            String host = Meeting.thisHost();
            String secret = Rendezvous.newSecret();
            String line = "";
            if (launcher.rank() == 0 && launcher.listensAt().getPort() == 0) {
                served = Rendezvous.serve(launcher.listensAt(), secret);
                line = Meeting.line(secret, host, served.address());
            }
            Meeting meeting = Meeting.of(exchange.apply(line), host);
            if (launcher.rank() == 0 && served == null) {
                served = Rendezvous.serve(launcher.listensAt(), meeting.secret());
            }
            joined = served != null ? served : join(meeting, deadline);
            news = Rendezvous.join(joined.address(), meeting.secret(), deadline);
            joined.enter(launcher.rank(), who);
            JobMembers members = new JobMembers(joined, news);
            Thread.ofPlatform().daemon().name("ofi4j-job-news").start(members::awaitNews);
            return members;
        } catch (Throwable t) {
            if (news != null) { news.close(); }
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
    private static Rendezvous join(Meeting meeting, Duration deadline) {
        long end = System.nanoTime() + deadline.toNanos();
        while (true) {
            for (InetSocketAddress address : meeting.addresses()) {
                try {
                    return Rendezvous.join(address, meeting.secret(),
                            meeting.addresses().size() == 1 ? deadline : ATTEMPT);
                } catch (RendezvousException e) {
                    if (System.nanoTime() > end || meeting.addresses().size() == 1) { throw e; }
                }
            }
        }
    }

    private void awaitNews() {
        try {
            while (true) {
                news.await(NEVER, LONG);
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
        news.close();
    }
}
