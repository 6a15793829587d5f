package io.ofi4j;

import io.ofi4j.ModelState.Queue;

/** Steps that post, poll and make progress. */
final class ModelTransfers {
    private static final int DEEPEST = 2;

    private final ModelProgram program;
    private final ModelState state;
    private final ModelPosts posts;
    private final ModelCounters counters;

    ModelTransfers(ModelProgram program) {
        this.program = program;
        this.state = program.state;
        this.posts = new ModelPosts(program);
        this.counters = new ModelCounters(program);
    }

    void step(int depth) {
        switch (program.random.nextInt(22)) {
            case 0, 1, 2, 3, 4, 5 -> posts.simple();
            case 6, 7, 8, 9, 10 -> posts.message();
            case 11, 12 -> progress();
            case 13, 14 -> counters.use();
            case 15 -> pollFromElsewhere();
            default -> {
                Queue queue = program.pick(state.queues);
                program.note("poll queue " + state.queues.indexOf(queue));
                poll(queue, 1 + program.random.nextInt(program.chance(50) ? 2 : 100), depth);
            }
        }
    }

    private void progress() {
        Queue queue = program.pick(state.queues);
        program.note("progress queue " + state.queues.indexOf(queue));
        new Expect("progress").refused(!queue.open, IllegalStateException.class).run(queue.queue::progress);
    }

    private void pollFromElsewhere() {
        ThreadingModel model = program.info.domain().threading();
        if (model != ThreadingModel.DOMAIN && model != ThreadingModel.COMPLETION || !program.chance(20)) {
            return;
        }
        Queue queue = program.pick(state.queues);
        program.note("poll queue " + state.queues.indexOf(queue) + " from another thread");
        Throwable[] thrown = new Throwable[1];
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                queue.queue.poll((token, flags, length, data) -> {}, 1);
            } catch (Throwable t) {
                thrown[0] = t;
            }
        });
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (!(thrown[0] instanceof WrongThreadException)) {
            throw new AssertionError("another thread's poll gave " + thrown[0]);
        }
    }

    /** Polls with a handler that only takes. */
    void poll(Queue queue, int limit) {
        poll(queue, limit, DEEPEST);
    }

    private void poll(Queue queue, int limit, int depth) {
        int[] handed = new int[1];
        boolean mischief = depth < DEEPEST && program.chance(30);
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                handed[0]++;
                program.ledger.completed(queue, token, flags, data);
                mischief();
            }

            @Override
            public void onError(CompletionError error) {
                handed[0]++;
                program.ledger.failed(queue, error);
                mischief();
            }

            private void mischief() {
                if (mischief && program.chance(40)) {
                    inHandler(depth);
                }
            }
        };
        int[] count = {-1};
        new Expect("poll").refused(!queue.open, IllegalStateException.class).tolerated(mischief, Mischief.class)
                .run(() -> count[0] = queue.queue.poll(handler, limit));
        if (count[0] > limit || count[0] >= 0 && count[0] != handed[0]) {
            throw new AssertionError("poll says " + count[0] + " of at most " + limit + ", handed " + handed[0]);
        }
    }

    /** What a handler throws. */
    private static final class Mischief extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private void inHandler(int depth) {
        switch (program.random.nextInt(4)) {
            case 0 -> {
                program.note("handler throws");
                throw new Mischief();
            }
            case 1 -> program.closeSomething();
            default -> step(depth + 1);
        }
    }
}
