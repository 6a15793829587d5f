package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A thread that makes progress on a domain's queues, for a target of reads and writes whose application does other
 * work. Started by {@link Domain#startProgress()}. It buffers the completions that it reads for the next
 * {@link CompletionQueue#poll}. When the buffer of a queue is full, which is when it holds as many completions as
 * operations can be in flight, the queue makes no progress until it is polled.
 *
 * <p>The thread polls, because peers' operations on local memory give no signal. Each step of a transfer that needs
 * this process may delay a peer by one pause. With the default pause an idle thread uses about a tenth of a processor;
 * with {@link Duration#ZERO} it uses a whole one. {@link Waiting#BACKOFF} suits a server that is often idle: the thread
 * spins while completions come, and uses about a hundredth of a processor when there are none.
 *
 * <p>{@link #close} ends it; an interrupt does not. It is a daemon platform thread, because a virtual thread in native
 * code pins its carrier. An application's own virtual threads may post, poll and make progress: those calls take
 * microseconds. Calls that open or close objects, register memory, find providers or look up names may take
 * milliseconds, and a blocking wait takes as long as it waits: use platform threads for those.
 */
public final class ProgressThread implements AutoCloseable {
    /** The default pause between two rounds: 100 microseconds. */
    public static final Duration DEFAULT_PAUSE = Duration.ofNanos(100_000);

    private static final Duration MAX_PAUSE = Duration.ofSeconds(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    /** Calls of progress in one round: the steps of a transfer often follow each other at once. */
    private static final int CALLS_PER_ROUND = 4;

    private final Domain domain;
    private final Waiting pauses;
    private final BooleanSupplier progress;
    private final Thread thread;
    private volatile boolean stopping;
    private volatile Throwable failure;
    /** Whether a pause has closed it; used by the thread alone. */
    private boolean closesItself;
    private boolean closed;

    ProgressThread(Domain domain, Waiting pauses, BooleanSupplier progress) {
        this.domain = domain;
        this.pauses = pauses;
        this.progress = progress;
        this.thread = Thread.ofPlatform().daemon().name("ofi4j-progress").start(this::run);
    }

    /** Pauses of the same length. */
    static Waiting every(Duration pause) {
        if (pause.isNegative() || pause.compareTo(MAX_PAUSE) > 0) {
            throw new IllegalArgumentException("a pause lasts from 0 to 1 second, not " + pause);
        }
        long nanos = pause.toNanos();
        return nanos == 0 ? _ -> Thread.yield() : _ -> LockSupport.parkNanos(nanos);
    }

    private void run() {
        try {
            for (int turn = 0; !stopping; turn = turn + 1 & Integer.MAX_VALUE) {
                for (int call = 0; call < CALLS_PER_ROUND; call++) {
                    if (progress.getAsBoolean()) { turn = 0; }
                }
                pause(turn);
            }
        } catch (Throwable t) {
            failure = t;
        }
        if (closesItself) { domain.forget(this); }
    }

    /** Only close ends the thread. An interrupted thread would not pause, and a pause that blocks may throw EINTR. */
    private void pause(int turn) {
        try {
            pauses.pause(turn);
        } catch (FabricException e) {
            if (e.errno() != Errno.EINTR) { throw e; }
        }
        Thread.interrupted();
    }

    /** {@return whether the thread makes progress: it was neither closed nor ended by a {@link #failure}} */
    public boolean isRunning() {
        return !stopping && failure == null;
    }

    /**
     * {@return the exception that ended the thread, such as a {@link FabricException} of a queue; empty if there is
     * none}
     */
    public Optional<Throwable> failure() { return Optional.ofNullable(failure); }

    Thread thread() { return thread; }

    /**
     * Stops the thread and waits until it has ended. Called by the thread's own pause, it does not wait: the thread
     * ends after the pause.
     *
     * @throws FabricTimeoutException if it is still in a call after 30 seconds
     * @throws RuntimeException the {@link #failure}, if there is one; the thread is closed nevertheless
     */
    @Override
    public void close() { close(STOP_TIMEOUT); }

    /** As {@link #close()}, but waits no longer than this. */
    void close(Duration remaining) {
        Duration timeout = remaining.compareTo(STOP_TIMEOUT) < 0 ? remaining : STOP_TIMEOUT;
        stopping = true;
        if (Thread.currentThread() == thread) { // without the monitor: another thread may hold it and wait for this one
            closesItself = true;
            return;
        }
        closeFromOutside(timeout);
    }

    private synchronized void closeFromOutside(Duration timeout) {
        if (closed) { return; }
        LockSupport.unpark(thread);
        join(timeout);
        closed = true;
        domain.forget(this);
        if (failure instanceof RuntimeException e) { throw e; }
        if (failure instanceof Error e) { throw e; }
    }

    private void join(Duration timeout) {
        long start = System.nanoTime();
        boolean interrupted = false;
        try {
            while (thread.isAlive()) {
                try {
                    if (!thread.join(timeout.minusNanos(System.nanoTime() - start))) {
                        throw new FabricTimeoutException("waiting for " + this + " to end", timeout,
                                "The thread hangs in a call into the provider.");
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) { Thread.currentThread().interrupt(); }
        }
    }

    @Override
    public String toString() { return "ProgressThread of " + domain; }
}
