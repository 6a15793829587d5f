package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.support.Pair;
import java.util.Random;

/** Handlers that throw, post, poll, make progress and close: every token comes back once all the same. */
final class HostileHandlers {
    private static final int POSTS = 200;

    /** As an assertion of a handler's would be. */
    private static final class HandlerError extends Error {
        private static final long serialVersionUID = 1;
    }

    private final HostileRun run;
    private final Random random;
    private final Pair pair;
    private final MemoryRegion local;
    private final RemoteRegion remote;
    private final HostileTokens tokens;
    private int accepted;
    private int depth;
    private boolean isOver;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { back(token); }

        @Override
        public void onError(CompletionError error) { back(error.token()); }
    };

    private HostileHandlers(HostileRun run, Random random) {
        this.run = run;
        this.tokens = new HostileTokens(run);
        this.random = random;
        this.pair = new Pair(run.provider);
        this.local = pair.domain.allocate(64, Access.values());
        this.remote = local.remote();
    }

    static void run(HostileRun run) {
        Random random = run.random();
        while (run.goesOn()) {
            new HostileHandlers(run, random).round();
            run.tried("rounds");
        }
    }

    private void round() {
        while (accepted < POSTS && run.goesOn()) {
            post();
            poll();
        }
        pair.endpoint.close();
        isOver = true;
        while (poll()) {
            Thread.onSpinWait();
        }
        tokens.requireAll();
        local.close();
        pair.close();
    }

    private void post() {
        run.attempt("post", () -> {
            if (tokens.post(token -> pair.rma().tryWrite(local, 0, 8, pair.far, remote, 8, token))) { accepted++; }
        });
    }

    /** Whether anything came, or was thrown. */
    private boolean poll() {
        int[] found = new int[1];
        boolean isWhole = run.attempt("poll", () -> {
            try {
                found[0] = pair.queue.poll(handler, 1 + random.nextInt(64));
            } catch (HandlerError e) {
                throw new IllegalStateException("a handler ended in an Error", e);
            }
        });
        run.attempt("poll", () -> pair.farQueue.poll((token, flags, length, data) -> {}, 8));
        return !isWhole || found[0] > 0;
    }

    private void back(long token) {
        tokens.back(token);
        if (depth > 3) { return; }
        depth++;
        try {
            misbehave();
        } finally {
            depth--;
        }
    }

    private void misbehave() {
        switch (random.nextInt(8)) {
            case 0 -> {
                if (random.nextBoolean()) { throw new IllegalStateException("thrown by a handler"); }
                throw new HandlerError();
            }
            case 1 -> post();
            case 2 -> poll();
            case 3 -> pair.queue.progress();
            case 4 -> run.attempt("close of a queue in a handler", (isOver ? pair.farQueue : pair.queue)::close);
            case 5 -> run.attempt("close of the domain in a handler", pair.domain::close);
            case 6 -> run.attempt("statistics in a handler", pair.endpoint::statistics);
            default -> Thread.yield();
        }
    }
}
