package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.support.Pair;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import io.ofi4j.util.PollGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongConsumer;

/**
 * Callbacks that are called on the thread that polls misbehave, at every place where there is one. Every operation is
 * handed out once all the same, and everything can be closed.
 */
final class HostileCallbacks {
    private static final int POSTS = 40;
    private static final int KINDS = 6;
    private static final int WINDOW = 8;
    private static final int GROUP_DEADLINE_MICROS = 300;
    private static final Duration SHORT = Duration.ofMillis(2);

    /** Who calls callbacks. */
    private interface Place {
        /** Whether an operation was accepted, which {@link #back} tells of. */
        boolean post(int token);

        /** Has callbacks called. */
        void turn();

        /** When everything was handed out. */
        default void close() {
            // Nothing is open.
        }
    }

    private final HostileRun run;
    private final Random random;
    private final Pair pair;
    private final MemoryRegion local;
    private final RemoteRegion remote;
    private final HostileTokens tokens;
    private final HostileCallback callback;
    private Place place;
    private int last;
    private boolean isClosed;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { back(token); }

        @Override
        public void onError(CompletionError error) { back(error.token()); }
    };
    private final DetailedCompletionHandler detailed = new DetailedCompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            back(token);
        }

        @Override
        public void onError(CompletionError error) { back(error.token()); }
    };
    private final CompletionHandler farHandler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { callback.misbehave(); }

        @Override
        public void onError(CompletionError error) { callback.misbehave(); }
    };

    private HostileCallbacks(HostileRun run, Random random) {
        this.run = run;
        this.tokens = new HostileTokens(run);
        this.random = random;
        this.pair = new Pair(run.provider);
        this.local = pair.domain.allocate(64, Access.values());
        this.remote = local.remote();
        pair.endpoint.postTimeout(SHORT);
        this.callback = new HostileCallback(run, random,
                List.of(() -> post(), () -> place.turn(), () -> pair.queue.progress(),
                        () -> pair.farQueue.poll(farHandler, 4), () -> closeQueue(), () -> pair.farQueue.close(),
                        () -> pair.domain.close(), () -> Thread.currentThread().interrupt(), () -> pair.queue.signal(),
                        () -> await(), () -> closeEndpoint()));
    }

    static void run(HostileRun run) {
        Random random = run.random();
        for (int round = 0; run.goesOn(); round++) {
            new HostileCallbacks(run, random).round(round % KINDS);
        }
    }

    private void round(int kind) {
        place = switch (kind) {
            case 0 -> polls(handler);
            case 1 -> polls(detailed);
            case 2 -> awaits();
            case 3 -> new Window();
            case 4 -> new Group();
            default -> waits();
        };
        for (int i = 0; i < POSTS && run.goesOn(); i++) {
            callback.calls("post", this::post);
            callback.calls("turn", place::turn);
            callback.calls("far poll", () -> pair.farQueue.poll(farHandler, 8));
        }
        isClosed = true;
        pair.endpoint.close();
        long start = System.nanoTime();
        while (!tokens.areAll() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
            callback.calls("turn", place::turn);
            callback.calls("far poll", () -> pair.farQueue.poll(farHandler, 8));
        }
        tokens.requireAll();
        callback.calls("close", place::close);
        local.close();
        pair.close();
        run.tried("rounds of " + place.getClass().getSimpleName() + kind);
    }

    /** Sometimes in a callback, too: what is in flight comes back with an error. */
    private void closeEndpoint() {
        if (random.nextInt(16) > 0) { return; }
        isClosed = true;
        pair.endpoint.close();
    }

    /** Beside a pipeline, nobody else may poll its queue. */
    private void await() {
        if (!(place instanceof Window)) { pair.queue.await(handler, 1, SHORT); }
    }

    /** While it is bound: it refuses. */
    private void closeQueue() { if (!isClosed) { pair.queue.close(); } }

    private void post() {
        int token = ++last;
        if (place.post(token)) { tokens.accept(token); }
    }

    private boolean write(int token) { return pair.rma().tryWrite(local, 0, 8, pair.far, remote, 8, token); }

    private void back(long token) {
        tokens.back(token);
        callback.misbehave();
    }

    /** The queue's own handlers. */
    private Place polls(CompletionHandler one) {
        return new Place() {
            @Override
            public boolean post(int token) { return write(token); }

            @Override
            public void turn() { pair.queue.poll(one, 1 + random.nextInt(16)); }
        };
    }

    /** Handlers in a wait. */
    private Place awaits() {
        return new Place() {
            @Override
            public boolean post(int token) { return write(token); }

            @Override
            public void turn() {
                pair.queue.await(random.nextBoolean() ? handler : detailed, 1 + random.nextInt(16), SHORT);
            }
        };
    }

    /** Conditions, and ways to wait. */
    private Place waits() {
        return new Place() {
            private final Waiting pauses = turn -> callback.misbehave();

            @Override
            public boolean post(int token) { return write(token); }

            @Override
            public void turn() {
                (random.nextBoolean() ? pauses : Waiting.BACKOFF).tryUntil(() -> {
                    callback.misbehave();
                    return pair.queue.poll(handler, 4) > 0;
                }, SHORT);
            }
        };
    }

    /** Handlers, recorders and posts of a pipeline. */
    private final class Window implements Place, PipelineHandler<Integer> {
        private final Pipeline<Integer> pipeline = new Pipeline<>(pair.endpoint, pair.queue, WINDOW, this);
        /** What was posted by a post that threw then: a completion of nobody. */
        private final Map<Long, Integer> orphans = new HashMap<>();
        private final LongConsumer recorder = nanos -> callback.misbehave();

        Window() { pipeline.recordLatencies(recorder); }

        @Override
        public boolean post(int token) {
            pipeline.recordLatencies(random.nextInt(4) > 0 ? recorder : null);
            if (pipeline.inFlight() == WINDOW && random.nextInt(8) > 0) { return false; }
            if (random.nextBoolean()) {
                pipeline.write(local.slice(0, 8), pair.far, remote.slice(8, 8), token);
                return true;
            }
            pipeline.submit(token, number -> {
                pair.rma().write(local.slice(0, 8), pair.far, remote.slice(8, 8), number);
                tokens.accept(token);
                boolean isWhole = false;
                orphans.put(number, token);
                try {
                    callback.misbehave();
                    isWhole = true;
                } finally {
                    if (isWhole) { orphans.remove(number); }
                }
            });
            return true;
        }

        @Override
        public void turn() {
            if (random.nextBoolean()) {
                pipeline.poll();
            } else {
                try {
                    pipeline.drain(SHORT);
                } catch (FabricTimeoutException e) {
                    run.tried("drains that did not end");
                }
            }
        }

        @Override
        public void onCompletion(Integer token, long length, long data) { back(token); }

        @Override
        public void onError(Integer token, CompletionError error) { back(token); }

        @Override
        public void onOther(long token, long flags, long length, long data) {
            Integer orphan = orphans.remove(token);
            if (orphan != null) { back(orphan); }
        }
    }

    /** All members of a poll group. */
    private final class Group implements Place {
        private PollGroup group;
        private final Pipe pipe = pipe();
        private final int event = Descriptors.event();

        Group() { fill(); }

        private void fill() {
            group = new PollGroup();
            group.add(pair.queue, random.nextBoolean() ? handler : detailed).add(pair.farQueue, farHandler)
                    .add(pipe.source(), SelectionKey.OP_READ, key -> {
                        take();
                        misbehave();
                    }).add(event, () -> {
                        Descriptors.reset(event);
                        misbehave();
                    });
            if (pair.events != null) { group.add(pair.events, event -> misbehave()); }
        }

        private void misbehave() {
            switch (random.nextInt(6)) {
                case 0 -> group.close();
                case 1 -> group.remove(pair.farQueue);
                case 2 -> group.wake();
                default -> callback.misbehave();
            }
        }

        @Override
        public boolean post(int token) {
            if (random.nextInt(4) == 0) { give(); }
            if (random.nextInt(4) == 0) { Descriptors.signal(event); }
            return write(token);
        }

        @Override
        public void turn() {
            try {
                if (random.nextBoolean()) {
                    group.poll();
                } else {
                    group.await(Duration.ofNanos(GROUP_DEADLINE_MICROS * 1000L));
                }
            } catch (IllegalStateException e) { // a handler has closed it
                if (!e.getMessage().contains("poll group is closed")) { throw e; }
                fill();
            }
        }

        private void give() {
            try {
                pipe.sink().write(ByteBuffer.wrap(new byte[]{1}));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void take() {
            try {
                pipe.source().read(ByteBuffer.allocate(1));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            group.close();
            Descriptors.close(event);
            try {
                pipe.sink().close();
                pipe.source().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static Pipe pipe() {
        try {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            pipe.sink().configureBlocking(false);
            return pipe;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
