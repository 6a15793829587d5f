package io.ofi4j.util;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Operations of one endpoint as futures, for code that is not on the hot path: each operation allocates a few hundred
 * bytes. A thread of this object polls the queue, completes the futures and runs their actions. Any thread may call the
 * methods.
 *
 * <p>Nothing else may poll the queue until {@link #close}: another poll would take completions that futures wait for.
 * A future ends when its operation has ended. {@link FabricFuture} says what can be canceled.
 *
 * <pre>{@code
 * FabricFuture answer = futures.receive(inbox.slice(0, 64), ANSWER | number, 0).within(Duration.ofSeconds(2));
 * futures.send(outbox.slice(0, 64), server, REQUEST | number);
 * answer.await(); // blocks; a virtual thread releases its carrier
 * }</pre>
 *
 * <p>Tokens of its operations begin with the bytes 0x4654: other operations whose completions come to the same queue
 * must have others. Completions that are not its own are dropped.
 */
public final class FutureThread implements AutoCloseable {
    private static final Duration SLICE = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final int BATCH = 16;
    /**
     * The last token. One sequence for all objects: operations outlive theirs. It begins so high that programs do not
     * meet it by chance.
     */
    private static final AtomicLong LAST = new AtomicLong(0x4654L << 48);
    /** The queues that an open object polls. */
    private static final Set<CompletionQueue> POLLED = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final Map<Long, FabricFuture> pending = new ConcurrentHashMap<>();
    /** The futures to cancel at a time, the earliest first. */
    private final ConcurrentSkipListMap<Deadline, FabricFuture> deadlines = new ConcurrentSkipListMap<>();
    private final long start = System.nanoTime();
    private final AtomicLong lastDeadline = new AtomicLong();
    private final Thread thread;
    private volatile boolean closed;

    /**
     * A deadline of an operation.
     *
     * @param nanos since {@link #start}
     * @param number tells deadlines of the same time apart
     * @param timeout what the program asked for
     */
    private record Deadline(long nanos, long number, Duration timeout) implements Comparable<Deadline> {
        @Override
        public int compareTo(Deadline other) {
            int byTime = Long.compare(nanos, other.nanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /**
     * The result of an operation.
     *
     * @param length the number of bytes received; meaningful for receives only
     * @param data the peer's completion data, meaningful for a receive whose message carried data
     */
    public record Result(long length, long data) {}

    /**
     * Starts the thread that polls.
     *
     * @param endpoint enabled, with {@link ThreadingModel#SAFE}
     * @param queue the queue that reports the completions of its operations: one that is bound to the endpoint
     * @throws IllegalArgumentException if the queue is not bound to the endpoint
     * @throws IllegalStateException if the threading model is not SAFE, or other futures wait on the queue
     */
    public FutureThread(Endpoint endpoint, CompletionQueue queue) {
        ThreadingModel threading = endpoint.info().domain().threading();
        if (threading != ThreadingModel.SAFE) {
            throw new IllegalStateException(
                    "futures need ThreadingModel.SAFE, for a thread of their own polls the queue, but " + endpoint
                            + " has " + threading + ": request SAFE, or use a Pipeline");
        }
        this.endpoint = endpoint;
        this.queue = Objects.requireNonNull(queue, "queue");
        BoundQueue.require(endpoint, queue);
        synchronized (POLLED) {
            if (!POLLED.add(queue)) {
                throw new IllegalStateException(
                        "other futures use " + queue + " already: submit to those, or bind a queue for each endpoint");
            }
        }
        boolean started = false;
        try {
            this.thread = Thread.ofPlatform().daemon().name("ofi4j-futures").start(this::run);
            started = true;
        } finally {
            if (!started) { forgetQueue(); }
        }
    }

    private void forgetQueue() {
        synchronized (POLLED) {
            POLLED.remove(queue);
        }
    }

    /**
     * {@return the future of a write to a peer, as {@link io.ofi4j.Rma#write}} It waits for room, and throws what
     * posting throws.
     */
    public FabricFuture write(MemoryRegion.Slice local, Peer peer, RemoteRegion remote) {
        return submit(token -> endpoint.rma().write(local, peer, remote, token));
    }

    /**
     * {@return the future of a read from a peer, as {@link io.ofi4j.Rma#read}} It waits for room, and throws what
     * posting throws.
     */
    public FabricFuture read(MemoryRegion.Slice local, Peer peer, RemoteRegion remote) {
        return submit(token -> endpoint.rma().read(local, peer, remote, token));
    }

    /**
     * {@return the future of a message to a peer, as {@link io.ofi4j.Messages#send(MemoryRegion.Slice, Peer, long)}} It
     * waits for room, and throws what posting throws.
     */
    public FabricFuture send(MemoryRegion.Slice local, Peer peer) {
        return submit(token -> endpoint.messages().send(local, peer, token));
    }

    /**
     * {@return the future of the next message, as {@link io.ofi4j.Messages#receive}; its length is in the result} It
     * waits for room, and throws what posting throws.
     */
    public FabricFuture receive(MemoryRegion.Slice local) {
        return submit(token -> endpoint.messages().receive(local, token));
    }

    /**
     * {@return the future of a message with a tag, as {@link io.ofi4j.Tagged#send}} It waits for room, and throws what
     * posting throws.
     */
    public FabricFuture send(MemoryRegion.Slice local, Peer peer, long tag) {
        return submit(token -> endpoint.tagged().send(local, peer, tag, token));
    }

    /**
     * {@return the future of the next message with a matching tag, as {@link io.ofi4j.Tagged#receive}; its length is in
     * the result} It waits for room, and throws what posting throws.
     */
    public FabricFuture receive(MemoryRegion.Slice local, long tag, long ignore) {
        return submit(token -> endpoint.tagged().receive(local, tag, ignore, token));
    }

    /**
     * {@return the future of an atomic change that brings the previous value into the cell, as
     * {@link io.ofi4j.Atomics#fetch}} It waits for room, and throws what posting throws.
     */
    public FabricFuture fetch(AtomicOperation operation, Datatype datatype, long operand, MemoryRegion.Slice cell,
            Peer peer, RemoteRegion remote) {
        return submit(token -> endpoint.atomics().fetch(operation, datatype, operand, cell, peer, remote, token));
    }

    /**
     * {@return the future of an atomic exchange that brings the previous value into the cell, as
     * {@link io.ofi4j.Atomics#compare}} It waits for room, and throws what posting throws.
     */
    public FabricFuture compare(AtomicOperation operation, Datatype datatype, long operand, long comparand,
            MemoryRegion.Slice cell, Peer peer, RemoteRegion remote) {
        return submit(token -> endpoint.atomics().compare(operation, datatype, operand, comparand, cell, peer, remote,
                token));
    }

    /**
     * {@return the future of any operation that gives one completion} For example
     * {@code futures.submit(token -> endpoint.messages().send(slice, peer, token))}. If the operation fails, the future
     * fails with its {@link FabricException}.
     *
     * @param post posts one operation with the token that it gets; what it throws, this method throws
     * @throws IllegalStateException if this object is closed
     */
    public FabricFuture submit(LongConsumer post) {
        if (closed) { throw new IllegalStateException("the futures of " + endpoint + " are closed"); }
        long token = LAST.incrementAndGet();
        FabricFuture future = new FabricFuture(this, token);
        pending.put(token, future);
        boolean posted = false;
        try {
            post.accept(token);
            posted = true;
        } finally {
            if (!posted) { pending.remove(token); }
        }
        if (closed) { fail(token, closedException()); } // the thread may not have seen it
        return future;
    }

    private void run() {
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                FabricFuture future = pending.remove(token);
                if (future != null) { future.complete(new Result(length, data)); }
            }

            @Override
            public void onError(CompletionError error) {
                FabricFuture future = pending.remove(error.token());
                if (future != null) { future.failed(error.toException()); }
            }
        };
        Throwable why = closedException();
        try {
            while (!closed) {
                await(handler);
                cancelExpired();
            }
        } catch (Throwable t) { // for example, the queue was closed
            why = t;
            closed = true;
        }
        forgetQueue();
        failAll(why);
    }

    /** Only close ends the thread: an interrupt does not. */
    private void await(CompletionHandler handler) {
        try {
            queue.await(handler, BATCH, Duration.ofNanos(untilNextDeadline()));
        } catch (FabricException e) {
            if (e.errno() != Errno.EINTR || !Thread.interrupted()) { throw e; }
        }
    }

    private long elapsed() { return System.nanoTime() - start; }

    /** The nanoseconds to the next deadline, at most {@link #SLICE}. */
    private long untilNextDeadline() {
        Map.Entry<Deadline, FabricFuture> next = deadlines.firstEntry();
        return next == null ? SLICE.toNanos() : Math.clamp(next.getKey().nanos - elapsed(), 0, SLICE.toNanos());
    }

    private void cancelExpired() {
        long now = elapsed();
        for (Map.Entry<Deadline, FabricFuture> next = deadlines.firstEntry(); next != null
                && next.getKey().nanos <= now; next = deadlines.firstEntry()) {
            deadlines.remove(next.getKey());
            next.getValue().cancel(new FabricTimeoutException("an operation of " + endpoint, next.getKey().timeout,
                    "It was canceled, and its memory is free: is the peer there?"));
        }
    }

    /** Has an operation canceled at a deadline, by the thread that polls. */
    void cancelAfter(Duration timeout, FabricFuture future) {
        long now = elapsed();
        long nanos = now + Math.min(Deadlines.nanos(timeout), Long.MAX_VALUE - now);
        Deadline deadline = new Deadline(nanos, lastDeadline.incrementAndGet(), timeout);
        deadlines.put(deadline, future);
        future.whenComplete((result, thrown) -> deadlines.remove(deadline));
        if (nanos - now < SLICE.toNanos()) { wake(); } // otherwise the thread looks in time
    }

    private void wake() {
        try {
            queue.signal();
        } catch (IllegalStateException e) {
            // the queue is closed, and with it every operation has ended
        }
    }

    /** Asks the provider to cancel the receive with a token. Returns false if it is none, or the provider cannot. */
    boolean cancelReceive(long token) {
        try {
            if (endpoint.info().capabilities().contains(Capability.MSG)) {
                endpoint.messages().cancel(token);
            } else {
                endpoint.tagged().cancel(token);
            }
            return true;
        } catch (IllegalArgumentException | IllegalStateException | UnsupportedOperationException | FabricException e) {
            // It is no receive, has just completed, its endpoint is closed, or the provider cannot cancel it.
            return false;
        }
    }

    boolean isPollingThread() { return Thread.currentThread() == thread; }

    private void failAll(Throwable why) {
        for (Long token : pending.keySet()) {
            fail(token, why);
        }
    }

    private void fail(long token, Throwable why) {
        FabricFuture future = pending.remove(token);
        if (future != null) { future.completeExceptionally(why); }
    }

    /**
     * Stops polling, and ends the futures that are not complete with {@link CancellationException}. Their operations go
     * on, and complete on the queue. Waits for the thread that polls, about ten seconds at most; called by a future's
     * own action, it does not wait.
     *
     * @throws FabricTimeoutException if an action of a future still runs then on that thread; calling this again waits
     *         again
     */
    @Override
    public void close() {
        closed = true;
        if (Thread.currentThread() == thread || joined(SLICE.multipliedBy(2))) { return; }
        // Ends an action that waits for another future. Actions that this starts may block, so another thread does it.
        Thread.ofPlatform().daemon().name("ofi4j-futures-close").start(() -> failAll(closedException()));
        if (!joined(CLOSE_TIMEOUT)) {
            throw new FabricTimeoutException("closing the futures of " + endpoint, CLOSE_TIMEOUT,
                    "An action of a future still runs on the thread '" + thread.getName()
                            + "': hand what waits to an executor, with CompletableFuture's methods that end in Async");
        }
    }

    /** Whether the thread has ended in time; an interrupt does not end the wait, and stays set. */
    private boolean joined(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        while (thread.isAlive() && System.nanoTime() < end) {
            try {
                thread.join(SLICE);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) { Thread.currentThread().interrupt(); }
        return !thread.isAlive();
    }

    private static CancellationException closedException() {
        return new CancellationException("the futures were closed");
    }

    @Override
    public String toString() { return "FutureThread of " + endpoint; }
}
