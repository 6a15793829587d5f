package io.ofi4j.model;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.faults.Elsewhere;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Expect;
import io.ofi4j.model.ModelState.Queue;
import java.time.Duration;
import java.util.List;
import java.util.function.ToIntFunction;

/** Steps that post, poll and make progress. */
final class ModelTransfers {
    private static final int DEEPEST = 2;

    private final ModelProgram program;
    private final ModelState state;
    private final ModelPosts posts;
    private final ModelCounters counters;
    private final ModelWaits waits;

    ModelTransfers(ModelProgram program) {
        this.program = program;
        this.state = program.state;
        this.posts = new ModelPosts(program);
        this.counters = new ModelCounters(program);
        this.waits = new ModelWaits(program, this);
    }

    void step(int depth) {
        switch (program.random.nextInt(24)) {
            case 0, 1, 2, 3, 4, 5 -> posts.simple();
            case 6, 7, 8, 9, 10 -> posts.message();
            case 11, 12 -> progress();
            case 13, 14 -> counters.use();
            case 15 -> pollFromElsewhere();
            case 16, 17 -> waits.step(depth);
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
        if (model != ThreadingModel.DOMAIN && model != ThreadingModel.COMPLETION || !program.chance(20)) { return; }
        Queue queue = program.pick(state.queues);
        program.note("poll queue " + state.queues.indexOf(queue) + " from another thread");
        CompletionHandler handler = (token, flags, length, data) -> {};
        List<Runnable> calls = List.of(() -> queue.queue.poll(handler, 1), queue.queue::tryWait,
                () -> queue.queue.await(handler, 1, Duration.ofSeconds(1)), queue.queue::waitDescriptor);
        Throwable thrown = Elsewhere.start(program.pick(calls)).await();
        if (!(thrown instanceof WrongThreadException)) {
            throw new AssertionError("another thread's call gave " + thrown);
        }
    }

    /** Polls with a handler that only takes. */
    void poll(Queue queue, int limit) { poll(queue, limit, DEEPEST); }

    private void poll(Queue queue, int limit, int depth) {
        take("poll", queue, limit, depth, handler -> queue.queue.poll(handler, limit));
    }

    /** Takes completions by a call, with a handler that does this and that: how many, or -1 where the call throws. */
    int take(String name, Queue queue, int limit, int depth, ToIntFunction<CompletionHandler> call) {
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

            private void mischief() { if (mischief && program.chance(40)) { inHandler(depth); } }
        };
        int[] count = {-1};
        new Expect(name).refused(!queue.open, IllegalStateException.class).tolerated(mischief, Mischief.class)
                .run(() -> count[0] = call.applyAsInt(handler));
        if (count[0] > limit || count[0] >= 0 && count[0] != handed[0]) {
            throw new AssertionError(name + " says " + count[0] + " of at most " + limit + ", handed " + handed[0]);
        }
        return count[0];
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
