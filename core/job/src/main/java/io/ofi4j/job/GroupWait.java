package io.ofi4j.job;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.job.internal.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * The waits of operations of several ranks: each operation has one deadline, and between polls it is looked from time
 * to time whether a rank has failed, the thread is interrupted, or the deadline is over.
 */
final class GroupWait {
    /** A power of two; some ways of waiting take tens of milliseconds between two polls. */
    private static final int POLLS_BETWEEN_CHECKS = 1 << 4;
    private static final int FAILURE_CHECKS = 100;
    private static final long FAILURE_CHECK_NANOS = 10_000_000;
    /** Yields between all polls; it never comes to sleep. */
    private static final Waiting YIELD_AT_ONCE = Waiting.backoff(0, Integer.MAX_VALUE, Duration.ofNanos(1),
            Duration.ofNanos(1));

    private final JobGroup group;
    private final Waiting waiting;
    private final IntFunction<String> awaited;
    private final String question;
    private Duration deadline;
    private long limitNanos;
    private String operation = "";
    /** When the operation began, as {@link System#nanoTime}. */
    private long start;
    private int polls;

    /**
     * @param awaited tells for which ranks this one waits, as text that follows the operation, where it is blocked by
     *         the member of this number
     * @param question what to look at where the deadline is over
     */
    GroupWait(JobGroup group, Waiting waiting, IntFunction<String> awaited, String question) {
        this.group = group;
        this.waiting = waiting;
        this.awaited = awaited;
        this.question = question;
        deadline(group.job().deadline());
    }

    /**
     * {@return how to wait for ranks of a job} A rank that spins while another one on its host waits for a processor
     * keeps that one from doing what it waits for.
     */
    static Waiting waiting(Job job) {
        return waiting(job.hostGroup().size(), Runtime.getRuntime().availableProcessors());
    }

    /** {@return how so many ranks on one host wait} */
    static Waiting waiting(int ranks, int processors) {
        return ranks > processors ? YIELD_AT_ONCE : Waiting.YIELD;
    }

    /** Sets the longest time of the operations that begin from now on. */
    void deadline(Duration longest) {
        deadline = longest;
        limitNanos = Deadline.nanos(longest);
    }

    /** Begins an operation of this name, and its deadline. */
    void begin(String name) {
        operation = name;
        start = System.nanoTime();
    }

    String operation() { return operation; }

    /** Checks from time to time; called before each poll. Nothing is allocated. */
    void check(int blocked) {
        if ((++polls & POLLS_BETWEEN_CHECKS - 1) != 0) { return; }
        group.job().check();
        if (Thread.currentThread().isInterrupted()) {
            throw new JobException(group.self() + " was interrupted in " + operation + awaited.apply(blocked));
        }
        if (System.nanoTime() - start > limitNanos) {
            throw new JobException(group.self() + " still waits in " + operation + " after " + Deadline.text(deadline)
                    + awaited.apply(blocked) + ": " + question
                    + " If a rank needs longer, join with a longer deadline: Job.join(Duration).");
        }
    }

    /**
     * {@return the exception for a failed operation with a member} The failure may be known before the end of the rank
     * that caused it: then this throws what names that rank.
     */
    JobException failed(int rank, FabricException cause) {
        for (int i = 0; i < FAILURE_CHECKS; i++) {
            group.job().check();
            LockSupport.parkNanos(FAILURE_CHECK_NANOS);
        }
        return new JobException(group.self() + " cannot go on: " + operation + " with " + group.names(List.of(rank))
                + " failed: " + cause.getMessage(), cause);
    }

    /** Makes progress on the other queues that the job was given, and pauses. Returns the next turn. */
    int pause(int turn, CompletionQueue polled) {
        group.job().progress(polled);
        waiting.pause(turn);
        return turn + 1 & Integer.MAX_VALUE;
    }
}
