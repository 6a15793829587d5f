package io.ofi4j.job;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.HelperThread;
import io.ofi4j.job.internal.JobEngine;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.Meeting;
import io.ofi4j.job.internal.Wait;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * A job without PMIx or PMI-1: rank 0 serves a {@link Rendezvous}. Each rank has one connection for
 * requests, and one that waits for the loss of a rank.
 */
final class RendezvousEngine implements JobEngine {
    /** The length of one wait for the loss of a rank. The next wait follows it. */
    private static final Duration WATCH_TIME = Duration.ofMinutes(10);
    /** A name that is never published. The wait for it ends when a rank is lost. */
    private static final String NEVER = "never";
    /** The name under which rank 0, which serves, says who it is. */
    private static final String SERVER = "who is rank 0";
    private static final Duration LOOK_TIME = Duration.ofSeconds(2);
    private static final String REMEDY = " Give each process of the job a rank of its own: OFI4J_RANK.";
    private static final byte[] NO_DATA = {};

    private final Meeting meeting;
    private final Rendezvous rendezvous;
    private final Rendezvous failureWatch;
    /** Rank 0, with its process and host. */
    private final String server;
    private int gatherings;
    private volatile LauncherException lost;
    private volatile boolean closed;

    private RendezvousEngine(Meeting meeting, Rendezvous rendezvous, Rendezvous failureWatch, String server) {
        this.meeting = meeting;
        this.rendezvous = rendezvous;
        this.failureWatch = failureWatch;
        this.server = server;
    }

    /** Serves at rank 0, and joins. */
    static RendezvousEngine join(Meeting meeting, String who, Deadline deadline) {
        return join(meeting, who, deadline, WATCH_TIME);
    }

    static RendezvousEngine join(Meeting meeting, String who, Deadline deadline, Duration watchTime) {
        if (meeting.size() > Rendezvous.MAX_PLACES) {
            throw new LauncherException("a job whose ranks meet at rank 0 has at most " + Rendezvous.MAX_PLACES
                    + " ranks, not " + meeting.size() + ": start it with mpirun or srun");
        }
        Rendezvous joined = null;
        Rendezvous failureWatch = null;
        try {
            joined = meeting.rank() == 0 ? serve(meeting, deadline) : find(meeting, deadline);
            failureWatch = Rendezvous.join(meeting.address(), meeting.secret(), deadline);
            enter(joined, meeting, who, deadline);
            if (meeting.rank() == 0) { joined.publish(SERVER, who.getBytes(StandardCharsets.UTF_8), deadline); }
            RendezvousEngine engine = new RendezvousEngine(meeting, joined, failureWatch,
                    new String(joined.await(SERVER, deadline), StandardCharsets.UTF_8));
            Thread.ofPlatform().daemon().name("ofi4j-job-watch").start(() -> engine.awaitFailure(watchTime));
            return engine;
        } catch (Throwable t) {
            if (failureWatch != null) { failureWatch.close(); }
            if (joined != null) { joined.close(); }
            if (t instanceof RendezvousException || t instanceof FabricTimeoutException
                    || t instanceof IllegalArgumentException) {
                throw new LauncherException(
                        "rank " + meeting.rank() + " of " + meeting.size() + " did not join: " + t.getMessage(), t);
            }
            throw t;
        }
    }

    private static Rendezvous serve(Meeting meeting, Deadline deadline) {
        try {
            return Rendezvous.serve(meeting.address(), meeting.secret(), deadline);
        } catch (RendezvousException e) {
            throw new RendezvousException(e.getMessage() + anotherServer(meeting), e);
        }
    }

    /** {@return who serves this job already, as a sentence; empty if nobody does} */
    private static String anotherServer(Meeting meeting) {
        Deadline soon = Deadline.in(LOOK_TIME);
        try (Rendezvous other = Rendezvous.join(meeting.address(), meeting.secret(), soon)) {
            return " " + new String(other.await(SERVER, soon), StandardCharsets.UTF_8) + " listens there already."
                    + REMEDY;
        } catch (RendezvousException | FabricTimeoutException e) {
            return "";
        }
    }

    private static Rendezvous find(Meeting meeting, Deadline deadline) {
        try {
            return Rendezvous.join(meeting.address(), meeting.secret(), deadline);
        } catch (RendezvousException e) {
            throw new RendezvousException(e.getMessage() + " Rank 0 should listen there: has it started?", e);
        }
    }

    private static void enter(Rendezvous joined, Meeting meeting, String who, Deadline deadline) {
        try {
            joined.enter(meeting.rank(), who, deadline);
        } catch (RendezvousException e) {
            throw new RendezvousException(e.getMessage() + "." + REMEDY, e);
        }
    }

    private void awaitFailure(Duration watchTime) {
        while (true) {
            try {
                Thread.interrupted(); // only the end of the job ends the thread
                failureWatch.await(NEVER, watchTime);
            } catch (FabricTimeoutException e) {
                continue; // no rank was lost
            } catch (RendezvousException e) {
                if (e.getCause() instanceof InterruptedException) { continue; }
                if (!closed) { lost = new LauncherException(why(e), e); }
                return;
            } catch (IllegalStateException e) {
                return; // closed
            }
        }
    }

    /** {@return why a call has failed, which names the rank that was lost if it is known} */
    private String why(RendezvousException failure) {
        if (lost != null) { return lost.getMessage(); }
        return failure.isServerGone() ? server + " has ended without leaving" : failure.getMessage();
    }

    @Override
    public String name() { return meeting.name(); }

    @Override
    public int rank() { return meeting.rank(); }

    @Override
    public int size() { return meeting.size(); }

    private static String key(int rank, String name) { return rank + "/" + name; }

    @Override
    public void put(String name, byte[] value, Deadline deadline) {
        call(() -> {
            rendezvous.publish(key(rank(), name), value, deadline);
            return null;
        }, new Wait(deadline, null));
    }

    @Override
    public byte[] get(int rank, String name, Wait wait) {
        byte[] value = call(() -> rendezvous.tryAwait(key(rank, name), wait.deadline()), wait);
        if (value == null) { throw LauncherException.noValue(rank, wait.deadline()); }
        return value;
    }

    @Override
    public List<byte[]> gather(byte[] value, Wait wait) {
        String name = "gathering " + gatherings++;
        Rendezvous.Gathered all = call(() -> rendezvous.tryGather(name, rank(), size(), value, wait.deadline()), wait);
        if (all.values() == null) { throw LauncherException.late(all.missing(), wait.deadline()); }
        return all.values();
    }

    @Override
    public void barrier(Wait wait) { gather(NO_DATA, wait); }

    private <T> T call(Supplier<T> work, Wait wait) {
        try {
            return wait.progress() == null ? work.get() : HelperThread.withProgress(wait, work);
        } catch (FabricTimeoutException e) {
            throw new LauncherException(
                    server + " did not answer within " + wait.deadline() + ": is it stopped, or its host overloaded?",
                    e);
        } catch (RendezvousException e) {
            throw new LauncherException(why(e), e);
        }
    }

    @Override
    public LauncherException lost() { return lost; }

    @Override
    public void leave(Deadline deadline, String why) {
        closed = true;
        if (why != null) { giveUp(why, deadline); }
        if (!rendezvous.awaitDepartures(deadline)) {
            rendezvous.endFor(server + " has closed the job, and did not wait longer than " + deadline
                    + " for the other ranks to close it");
        }
        rendezvous.close();
        failureWatch.close();
    }

    private void giveUp(String why, Deadline deadline) {
        try {
            rendezvous.giveUp(why, deadline);
        } catch (RendezvousException | FabricTimeoutException | IllegalStateException e) {
            return; // there is no caller to tell
        }
    }

    /** The others learn of it from rank 0. */
    @Override
    public void abort(int code, String why) {
        try {
            rendezvous.fail(why);
        } catch (RendezvousException | IllegalStateException e) {
            return; // there is no caller to tell
        }
    }
}
