package io.ofi4j.util;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.FabricTimeoutException;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongConsumer;

/**
 * Operations of one endpoint with a limit of operations in flight, the window. Each operation has an object of the
 * application, its context, in place of a token. After construction nothing is allocated.
 *
 * <pre>{@code
 * Pipeline<Block> pipeline = new Pipeline<>(endpoint, queue, 64, handler);
 * for (Block block : blocks) {
 *     pipeline.read(block.local, peer, block.remote, block); // polls while 64 are in flight
 * }
 * pipeline.drain(Duration.ofSeconds(10));
 * }</pre>
 *
 * <p>Only the thread that made it may use it; other threads get {@link WrongThreadException}. Nothing else may poll the
 * queue. It owns neither the endpoint nor the queue: the program closes them. When the endpoint closes, operations in
 * flight come back through {@link #poll} with the error {@code ECANCELED} (125).
 *
 * @param <C> the type of the context of an operation
 */
public final class Pipeline<C> {
    /** Marks the tokens of pipelines, so that no other token is mistaken for one. */
    private static final long MARK = 0x50_49L << Short.SIZE;
    /**
     * A token has, from the highest bits down, the mark, the number of times that its slot was taken and freed, and the
     * slot's number.
     */
    private static final int TURN_SHIFT = Integer.SIZE;
    private static final int BATCH = 64;

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final PipelineHandler<? super C> handler;
    private final Object[] contexts;
    private final long[] starts;
    /**
     * The number of times that each slot was taken and freed: odd while it is taken. It tells a second completion of
     * one operation.
     */
    private final short[] turns;
    /** The numbers of the free slots. */
    private final int[] free;
    private final Rma rma;
    private final Thread owner = Thread.currentThread();
    private int freeCount;
    private volatile LongConsumer latencies;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (isMine(token)) {
                handler.onCompletion(finish(token), length, data);
            } else {
                handler.onOther(token, flags, length, data);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (!isMine(error.token())) { throw error.toException(); }
            handler.onError(finish(error.token()), error);
        }
    };

    /**
     * Makes a pipeline with nothing in flight.
     *
     * @param endpoint enabled; its {@link Endpoint#postTimeout} limits every wait for room
     * @param queue the queue that reports the completions of its operations
     * @param window the largest number of operations in flight, 1 to {@link CompletionQueue#size}
     * @param handler receives the completions
     * @throws IllegalArgumentException if the window is larger than the queue, or below 1
     */
    public Pipeline(Endpoint endpoint, CompletionQueue queue, int window, PipelineHandler<? super C> handler) {
        if (window < 1 || window > queue.size()) {
            throw new IllegalArgumentException("a pipeline has from 1 to " + queue.size()
                    + " operations in flight, as many as its queue has room for, not " + window);
        }
        this.endpoint = endpoint;
        this.queue = queue;
        this.handler = Objects.requireNonNull(handler, "handler");
        this.contexts = new Object[window];
        this.starts = new long[window];
        this.turns = new short[window];
        this.free = new int[window];
        this.freeCount = window;
        for (int place = 0; place < window; place++) {
            free[place] = window - 1 - place;
        }
        this.rma = endpoint.rma();
    }

    /**
     * Writes to a peer, as {@link Rma#write}; polls while the window is full.
     *
     * @param context given to the handler with the completion
     * @throws FabricTimeoutException if there is no room in time; then nothing was posted
     */
    public void write(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, C context) {
        long token = begin(context);
        boolean posted = false;
        try {
            rma.write(local, peer, remote, token);
            posted = true;
        } finally {
            if (!posted) { giveBack(token); }
        }
    }

    /** As {@link #write}, in the other direction: {@link Rma#read}. */
    public void read(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, C context) {
        long token = begin(context);
        boolean posted = false;
        try {
            rma.read(local, peer, remote, token);
            posted = true;
        } finally {
            if (!posted) { giveBack(token); }
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
            if (!posted) { giveBack(token); }
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
     * Reports how long each operation takes, from its submission to the call of the handler, in nanoseconds. Any thread
     * may call this at any time.
     *
     * @param recorder called on the polling thread, for example a method of a histogram; null for none, the default
     */
    public void recordLatencies(LongConsumer recorder) { latencies = recorder; }

    /** Takes a slot, and waits for one. Returns its token. */
    private long begin(C context) {
        requireOwner();
        if (freeCount == 0) { awaitPlace(); }
        int place = free[--freeCount];
        contexts[place] = context;
        starts[place] = latencies == null ? 0 : System.nanoTime();
        turns[place]++;
        return token(place);
    }

    private long token(int place) { return (MARK | turns[place] & 0xffffL) << TURN_SHIFT | place; }

    private void requireOwner() {
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException("this pipeline was made by thread '" + owner.getName()
                    + "', which alone may use it: let each thread make one, with a queue of its own");
        }
    }

    private void awaitPlace() {
        Duration timeout = endpoint.postTimeout();
        long start = System.nanoTime();
        for (int turn = 0; freeCount == 0; turn++) {
            if (poll() > 0) { continue; }
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new FabricTimeoutException("posting on " + endpoint, timeout, "All " + inFlight()
                        + " operations of the window are in flight: is the peer there, and does it poll?");
            }
            Waiting.YIELD.pause(turn);
        }
    }

    private boolean isMine(long token) {
        int place = (int) token;
        return place >= 0 && place < contexts.length && (turns[place] & 1) != 0 && token == token(place);
    }

    /** Frees the slot of an operation that has ended. Returns its context. */
    private C finish(long token) {
        LongConsumer recorder = latencies;
        long start = starts[(int) token];
        C context = release(token);
        if (recorder != null && start != 0) { recorder.accept(System.nanoTime() - start); }
        return context;
    }

    /**
     * Frees the slot of an operation that was not posted, unless a post that polled before it threw has seen it
     * complete.
     */
    private void giveBack(long token) { if (isMine(token)) { release(token); } }

    @SuppressWarnings("unchecked")
    private C release(long token) {
        int place = (int) token;
        Object context = contexts[place];
        contexts[place] = null;
        turns[place]++;
        free[freeCount++] = place;
        return (C) context;
    }
}
