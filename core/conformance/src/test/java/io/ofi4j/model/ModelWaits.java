package io.ofi4j.model;

import io.ofi4j.Waitable;
import io.ofi4j.Waiting;
import io.ofi4j.faults.Elsewhere;
import io.ofi4j.support.Expect;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Steps that wait for completions, and that end waits. */
final class ModelWaits {
    private static final int SHORT_NANOS = 1_000_000;
    /** A wait that a signal ends at once. */
    private static final Duration ENDLESS = Patience.seconds(60);

    private final ModelProgram program;
    private final ModelState state;
    private final ModelTransfers transfers;

    ModelWaits(ModelProgram program, ModelTransfers transfers) {
        this.program = program;
        this.state = program.state;
        this.transfers = transfers;
    }

    void step(int depth) {
        Queue queue = program.pick(state.queues);
        int limit = 1 + program.random.nextInt(64);
        switch (program.random.nextInt(6)) {
            case 0, 1 -> await(queue, limit, depth);
            case 2 -> signal(queue);
            case 3 -> awaitSignal(queue, limit);
            case 4 -> tryWait(queue);
            default -> block(queue);
        }
    }

    private String name(Queue queue) { return " queue " + state.queues.indexOf(queue); }

    private Duration shortly() { return Duration.ofNanos(program.random.nextInt(SHORT_NANOS)); }

    /** Rule: it takes as long as it may where nothing comes, and a signal that came before ends it at once. */
    private void await(Queue queue, int limit, int depth) {
        boolean over = queue.open && queue.signaled;
        Duration deadline = over ? ENDLESS : shortly();
        program.note("await" + name(queue) + (over ? ", signaled" : ""));
        boolean inside = !over && queue.threshold == 1; // then its handlers run while it counts as waiting
        queue.signaled = false;
        queue.waiting += inside ? 1 : 0;
        long start = System.nanoTime();
        int count;
        try {
            count = transfers.take("await", queue, limit, depth,
                    handler -> queue.queue.await(handler, limit, deadline));
        } finally {
            queue.waiting -= inside ? 1 : 0;
        }
        long took = System.nanoTime() - start;
        if (over ? took >= ENDLESS.toNanos() : count == 0 && took < deadline.toNanos()) {
            throw new AssertionError("await took " + took + " ns, of " + deadline + (over ? " though signaled" : ""));
        }
    }

    private void signal(Queue queue) {
        boolean elsewhere = program.chance(50);
        program.note("signal" + name(queue) + (elsewhere ? " from another thread" : ""));
        if (new Expect("signal").refused(!queue.open, IllegalStateException.class)
                .run(() -> call(elsewhere, queue.queue::signal))) {
            queue.signaled |= queue.waiting == 0;
            if (queue.hasDescriptor && Descriptors.poll(0, queue.queue.waitDescriptor()) == 0) {
                throw new AssertionError("a signal does not make the descriptor readable");
            }
        }
    }

    private static void call(boolean elsewhere, Runnable code) {
        if (!elsewhere) {
            code.run();
            return;
        }
        Throwable thrown = Elsewhere.start(code).await();
        if (thrown instanceof RuntimeException e) { throw e; }
    }

    /** A signal that comes at any moment of a wait ends it. */
    private void awaitSignal(Queue queue, int limit) {
        if (!queue.open || queue.waiting > 0) { return; }
        program.note("await signal of" + name(queue));
        Elsewhere signaler = Elsewhere.start(queue.queue::signal);
        long start = System.nanoTime();
        transfers.take("await", queue, limit, Integer.MAX_VALUE, handler -> queue.queue.await(handler, limit, ENDLESS));
        boolean late = System.nanoTime() - start >= ENDLESS.toNanos();
        if (signaler.await() != null || late) { throw new AssertionError("a signal was lost" + signaler.await()); }
        takeAtOnce(queue); // the signal may have come after the wait
    }

    /** A wait that takes a signal that is there. */
    private void takeAtOnce(Queue queue) {
        transfers.take("await", queue, 1, Integer.MAX_VALUE, handler -> queue.queue.await(handler, 1, Duration.ZERO));
        queue.signaled = false;
    }

    private void tryWait(Queue queue) {
        program.note("try wait" + name(queue));
        boolean refused = !queue.open || !queue.hasDescriptor;
        new Expect("waitDescriptor").refused(refused, IllegalStateException.class).run(queue.queue::waitDescriptor);
        boolean signaled = queue.signaled;
        if (new Expect("tryWait").refused(refused, IllegalStateException.class).run(() -> {
            if (queue.queue.tryWait() && (signaled || queue.queue.statistics().buffered() > 0)) {
                throw new AssertionError("tryWait lets wait though something is kept, or a signal came: " + signaled);
            }
        })) { queue.signaled = false; }
    }

    private void block(Queue first) {
        List<Queue> queues = new ArrayList<>(List.of(first));
        while (program.chance(40)) {
            queues.add(program.pick(state.queues));
        }
        program.note("block on queues " + queues.stream().map(state.queues::indexOf).toList());
        boolean refused = queues.stream().anyMatch(queue -> !queue.open || !queue.hasDescriptor);
        Waitable[] objects = queues.stream().map(queue -> queue.queue).toArray(Waitable[]::new);
        Duration deadline = shortly();
        new Expect("block").refused(refused, IllegalStateException.class).run(() -> {
            long start = System.nanoTime();
            boolean nothing = !Waiting.block(deadline, objects);
            boolean signaled = queues.stream().anyMatch(queue -> queue.signaled);
            if (nothing && (signaled || System.nanoTime() - start < deadline.toNanos())) {
                throw new AssertionError("block ended early, with nothing, signaled: " + signaled);
            }
        });
        queues.forEach(this::takeSignal); // which of them blocking has asked is not known
    }

    private void takeSignal(Queue queue) { if (queue.open && queue.signaled) { takeAtOnce(queue); } }
}
