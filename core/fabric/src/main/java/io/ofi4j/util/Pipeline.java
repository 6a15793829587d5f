package io.ofi4j.util;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Direction;
import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/**
 * Operations of one endpoint with a limit of operations in flight, the window. Each operation has an object of the
 * application, its context, in place of a token. After construction nothing is allocated.
 *
 * <pre>{@code
 * Pipeline<Block> pipeline = new Pipeline<>(endpoint, queue, 64, blockHandler);
 * for (Block block : blocks) {
 *     pipeline.read(block.local, peer, block.remote, block); // polls while 64 are in flight
 * }
 * pipeline.drain(Duration.ofSeconds(10));
 * }</pre>
 *
 * <p>The thread that makes it uses it, others get {@link WrongThreadException}; the queue is polled through it alone.
 * It owns nothing: the endpoint and the queue are closed by who opened them, and what is in flight when the endpoint
 * closes comes back through {@link #poll} as an error, {@code ECANCELED}. Where the queue was bound with
 * {@link Endpoint#bindSelective}, an operation that does not ask for its completion stays in flight for good.
 *
 * @param <C> what belongs to an operation
 */
public final class Pipeline<C> {
    /** Marks the tokens of pipelines, so that no other token is mistaken for one. */
    private static final long MARK = 0x50_49L << Short.SIZE;
    /**
     * A token has, from the highest bits down, the mark, the number of times that its slot was taken and freed, in 8
     * bits the number of its pipeline, and the slot's number. Operations may complete after their pipeline was given
     * up.
     */
    private static final int GENERATION_SHIFT = Integer.SIZE;
    private static final int PIPELINE_SHIFT = 24;
    private static final int MAX_WINDOW = 1 << PIPELINE_SHIFT;
    private static final AtomicInteger PIPELINES = new AtomicInteger();
    private static final int BATCH = 64;

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final PipelineHandler<? super C> handler;
    private final Object[] contexts;
    private final long[] starts;
    /**
     * The number of times that each slot was taken and freed: odd while it is taken. It reveals a second completion of
     * one operation.
     */
    private final short[] generations;
    /** The numbers of the free slots. */
    private final int[] free;
    private final Rma rma;
    /** Whether the operations of {@link Rma} complete in the queue. */
    private final boolean transmits;
    /** The number of this pipeline, as a token has it. */
    private final long number = (PIPELINES.incrementAndGet() & 0xffL) << PIPELINE_SHIFT;
    private final Thread owner = Thread.currentThread();
    private int freeCount;
    private volatile LongConsumer latencies;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (isOwn(token)) {
                long latency = latency(token);
                C context = release(token);
                try {
                    handler.onCompletion(context, length, data);
                } finally { // a recorder that throws takes no completion from the handler
                    record(latency);
                }
            } else {
                handler.onOther(token, flags, length, data);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (!isOwn(error.token())) {
                if (error.posted()) { throw error.toException(); }
                return; // a peer's, or an inject beside the pipeline
            }
            long latency = latency(error.token());
            C context = release(error.token());
            try {
                handler.onError(context, error);
            } finally {
                record(latency);
            }
        }
    };

    /**
     * Makes a pipeline with nothing in flight.
     *
     * @param endpoint enabled; its {@link Endpoint#postTimeout} limits every wait for room
     * @param queue where its operations complete: one that is bound to the endpoint
     * @param window how many operations are in flight at most, 1 to {@link CompletionQueue#size}
     * @param handler receives what has completed
     * @throws IllegalArgumentException if the window is larger than the queue, or below 1, or the queue is not bound to
     *         the endpoint
     */
    public Pipeline(Endpoint endpoint, CompletionQueue queue, int window, PipelineHandler<? super C> handler) {
        int room = Math.min(queue.size(), MAX_WINDOW);
        if (window < 1 || window > room) {
            throw new IllegalArgumentException("a pipeline has from 1 to " + room
                    + " operations in flight, as many as its queue has room for, not " + window);
        }
        BoundQueue.require(endpoint, queue);
        this.endpoint = endpoint;
        this.queue = queue;
        this.handler = Objects.requireNonNull(handler, "handler");
        this.contexts = new Object[window];
        this.starts = new long[window];
        this.generations = new short[window];
        this.free = new int[window];
        this.freeCount = window;
        for (int slot = 0; slot < window; slot++) {
            free[slot] = window - 1 - slot;
        }
        this.rma = endpoint.rma();
        this.transmits = endpoint.completionQueue(Direction.TRANSMIT).equals(Optional.of(queue));
    }

    /**
     * Writes to a peer, as {@link Rma#write}; polls while the window is full.
     *
     * @param context given to the handler with the completion
     * @throws FabricTimeoutException if there is no room in time; then nothing was posted
     * @throws IllegalStateException if this pipeline's queue is bound to the endpoint for what it receives only
     */
    public void write(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, C context) {
        requireTransmits();
        long token = begin(context);
        boolean posted = false;
        try {
            rma.write(local, peer, remote, token);
            posted = true;
        } finally {
            if (!posted) { rollBack(token); }
        }
    }

    /** As {@link #write}, in the other direction: {@link Rma#read}. */
    public void read(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, C context) {
        requireTransmits();
        long token = begin(context);
        boolean posted = false;
        try {
            rma.read(local, peer, remote, token);
            posted = true;
        } finally {
            if (!posted) { rollBack(token); }
        }
    }

    /**
     * As {@link #write}, for any operation that gives one completion:
     * {@code pipeline.submit(context, token -> messages.send(slice, peer, token))}. The JVM may allocate such a lambda
     * each time.
     *
     * @param post posts one operation with the token that it gets, or throws. Further completions with that token go to
     *         {@link PipelineHandler#onOther}
     */
    public void submit(C context, LongConsumer post) {
        Objects.requireNonNull(post, "post");
        long token = begin(context);
        boolean posted = false;
        try {
            post.accept(token);
            posted = true;
        } finally {
            if (!posted) { rollBack(token); }
        }
    }

    /** {@return the number of operations in flight} */
    public int inFlight() { return contexts.length - freeCount; }

    /** {@return the number of completions passed to the handler; 0 if there were none} It never waits. */
    public int poll() {
        requireOwner();
        return queue.poll(completions, BATCH);
    }

    /**
     * Polls until nothing is in flight.
     *
     * @throws FabricTimeoutException if operations are still in flight at the deadline
     */
    public void drain(Duration deadline) {
        requireOwner();
        if (!Waiting.YIELD.tryUntil(() -> inFlight() == 0 || poll() < 0, deadline)) {
            throw new FabricTimeoutException("completing " + inFlight() + " operations of " + endpoint, deadline,
                    "Is the peer there, and does it poll?");
        }
    }

    /**
     * From now on, tells how long each operation takes from being submitted to being handed out, in nanoseconds; a
     * histogram's method, for example. Any thread may call this at any time.
     *
     * @param recorder called on the polling thread, after the handler; null for none, as at first. What it throws comes
     *         out of the poll; the completions behind it come with the next poll
     */
    public void recordLatencies(LongConsumer recorder) { latencies = recorder; }

    /** Takes a slot, and waits if none is free. Returns its token. */
    private long begin(C context) {
        requireOwner();
        if (freeCount == 0) { awaitSlot(); }
        int slot = free[--freeCount];
        contexts[slot] = context;
        starts[slot] = latencies == null ? 0 : System.nanoTime();
        generations[slot]++;
        return token(slot);
    }

    private long token(int slot) { return (MARK | generations[slot] & 0xffffL) << GENERATION_SHIFT | number | slot; }

    private static int slot(long token) { return (int) token & MAX_WINDOW - 1; }

    private void requireTransmits() {
        if (!transmits) {
            throw new IllegalStateException("writes and reads of " + endpoint
                    + " complete in another queue than this pipeline's: open a pipeline with the transmit queue");
        }
    }

    private void requireOwner() {
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException("this pipeline was made by thread '" + owner.getName()
                    + "', which alone may use it: let each thread make one, with a queue of its own");
        }
    }

    private void awaitSlot() {
        Duration timeout = endpoint.postTimeout();
        long start = System.nanoTime();
        for (int turn = 0; freeCount == 0; turn++) {
            if (poll() > 0) { continue; }
            if (System.nanoTime() - start > Deadlines.nanos(timeout)) {
                throw new FabricTimeoutException("posting on " + endpoint, timeout, "All " + inFlight()
                        + " operations of the window are in flight: is the peer there, and does it poll?");
            }
            Waiting.YIELD.pause(turn);
        }
    }

    private boolean isOwn(long token) {
        int slot = slot(token);
        return slot < contexts.length && (generations[slot] & 1) != 0 && token == token(slot);
    }

    /** How long an operation took that is handed out now, in nanoseconds; -1 if that is not recorded. */
    private long latency(long token) {
        long start = starts[slot(token)];
        return latencies == null || start == 0 ? -1 : System.nanoTime() - start;
    }

    private void record(long latency) {
        LongConsumer recorder = latencies;
        if (recorder != null && latency >= 0) { recorder.accept(latency); }
    }

    /**
     * Frees the slot of an operation that was not posted, unless a post that polled before it threw has seen it
     * complete.
     */
    private void rollBack(long token) { if (isOwn(token)) { release(token); } }

    @SuppressWarnings("unchecked")
    private C release(long token) {
        int slot = slot(token);
        Object context = contexts[slot];
        contexts[slot] = null;
        generations[slot]++;
        free[freeCount++] = slot;
        return (C) context;
    }
}
