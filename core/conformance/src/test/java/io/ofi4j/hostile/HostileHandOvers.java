package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Threads post, poll and hand over all at once what one of them owns, without a word between them: each call of another
 * one is refused, and every token comes back once.
 */
final class HostileHandOvers {
    private static final int THREADS = 3;
    private static final int MAX_IN_FLIGHT = 64;

    private final HostileRun run;
    private final Pair pair;
    private final MemoryRegion region;
    private final RemoteRegion remote;
    private final Rma rma;
    private final Thread main = Thread.currentThread();
    private final AtomicLong tokens = new AtomicLong();
    private final AtomicLong posted = new AtomicLong();
    private final Set<Long> completed = ConcurrentHashMap.newKeySet();
    /** Whether all threads hand over to the main one. */
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicBoolean isBack = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (!completed.add(token)) { run.fail(new AssertionError("token " + token + " came twice")); }
        }

        @Override
        public void onError(CompletionError error) { run.fail(error.toException()); }
    };

    private HostileHandOvers(HostileRun run, Pair pair, MemoryRegion region) {
        this.run = run;
        this.pair = pair;
        this.region = region;
        this.remote = region.remote();
        this.rma = pair.rma();
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        List<ThreadingModel> models = Stream.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)
                .filter(model -> TestProviders.info(hints(run, model)).domain().threading() == model).toList();
        while (run.goesOn() && !models.isEmpty()) { // some providers have no owners
            try (Pair pair = new Pair(hints(run, models.get(random.nextInt(models.size()))));
                    MemoryRegion region = pair.domain.allocate(16, Access.WRITE, Access.REMOTE_WRITE)) {
                new HostileHandOvers(run, pair, region).round();
            }
            run.tried("rounds");
        }
    }

    private static FabricHints hints(HostileRun run, ThreadingModel model) {
        return TestProviders.hints(run.provider).capabilities(Capability.RMA).threading(model);
    }

    private void round() throws InterruptedException {
        Random random = run.random();
        for (int i = 0; i < THREADS; i++) {
            Random its = run.random();
            threads.add(Thread.ofPlatform().daemon().unstarted(() -> {
                while (!isBack.get()) {
                    if (isOver.get()) {
                        handOver(main);
                    } else {
                        step(its, threads.get(its.nextInt(THREADS)));
                    }
                }
            }));
        }
        handOver(threads.getFirst());
        threads.forEach(Thread::start);
        Thread.sleep(random.nextInt(50));
        isOver.set(true);
        Waiting.YIELD.until(() -> isMine(pair.queue) && isMine(pair.farQueue), Pair.DEADLINE);
        isBack.set(true);
        run.join(threads);
        Waiting.YIELD.until(() -> {
            pair.farQueue.poll(handler, MAX_IN_FLIGHT);
            pair.queue.poll(handler, MAX_IN_FLIGHT);
            return completed.size() == posted.get();
        }, Pair.DEADLINE);
    }

    private boolean isMine(CompletionQueue queue) {
        try {
            queue.poll(handler, MAX_IN_FLIGHT);
            return true;
        } catch (WrongThreadException e) {
            return false;
        }
    }

    private void step(Random random, Thread next) {
        switch (random.nextInt(8)) {
            case 0 -> handOver(next);
            case 1, 2 -> run.attempt("posts", () -> {
                boolean hasRoom = posted.get() - completed.size() < MAX_IN_FLIGHT;
                if (hasRoom && rma.tryWrite(region, 0, 8, pair.far, remote, 8, tokens.incrementAndGet())) {
                    posted.incrementAndGet();
                }
            });
            case 3 -> run.attempt("polls of the target", () -> pair.farQueue.poll(handler, 16));
            default -> run.attempt("polls", () -> pair.queue.poll(handler, 16));
        }
    }

    private void handOver(Thread next) {
        if (pair.domain.info().domain().threading() == ThreadingModel.DOMAIN) {
            run.attempt("hand over", () -> pair.domain.handOver(next));
        } else {
            run.attempt("hand over", () -> pair.queue.handOver(next));
            run.attempt("hand over", () -> pair.farQueue.handOver(next));
        }
    }
}
