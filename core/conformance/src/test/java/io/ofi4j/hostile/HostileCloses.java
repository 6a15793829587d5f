package io.ofi4j.hostile;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads post operations of one family after the other, at both ends, while everything is closed under them in any
 * order. Every token that was posted comes back once, and what lies beside the regions is not touched.
 */
final class HostileCloses {
    private final HostileRun run;
    private final HostileTraffic traffic;
    private final Pair pair;
    private final Capability family;
    private final AtomicLong last = new AtomicLong();
    private final Set<Long> posted = ConcurrentHashMap.newKeySet();
    private final Set<Long> returned = ConcurrentHashMap.newKeySet();
    private volatile boolean isOver;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { back(token); }

        @Override
        public void onError(CompletionError error) { back(error.token()); }
    };

    private HostileCloses(HostileRun run, Random random) {
        this.run = run;
        this.family = HostileFamilies.one(random, run.provider);
        this.traffic = new HostileTraffic(run.provider, family);
        this.pair = traffic.pair;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        do {
            new HostileCloses(run, random).round(random);
            run.tried("rounds");
        } while (run.goesOn());
    }

    private void round(Random random) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Random own = run.random();
            threads.add(run.start("posting", () -> again(() -> post(own))));
        }
        Random own = run.random();
        threads.add(run.start("receiving", () -> again(() -> receive(own))));
        for (CompletionQueue queue : List.of(pair.queue, pair.farQueue)) {
            threads.add(run.start("polling", () -> again(() -> queue.poll(handler, 1 + own.nextInt(16)))));
        }
        Thread.sleep(random.nextInt(20));
        closeInAnyOrder(random);
        isOver = true;
        run.join(threads);
        requireEachTokenOnce();
        run.attempt("close", pair::close);
        traffic.requireGuards(run);
    }

    private void again(Runnable step) {
        while (!isOver) {
            run.attempt("steps over " + family, step::run);
        }
    }

    private void post(Random random) {
        long token = last.incrementAndGet();
        if (traffic.tryPost(random, token)) { posted.add(token); }
    }

    private void receive(Random random) {
        long token = last.incrementAndGet();
        boolean cancels = random.nextInt(8) == 0;
        if (!traffic.tryReceive(random, token)) { return; }
        posted.add(token);
        if (cancels) { traffic.cancel(token); }
    }

    private void back(long token) {
        if (token != CompletionHandler.NO_TOKEN && !returned.add(token)) {
            run.fail(new AssertionError("token " + token + " came back twice"));
        }
    }

    /** All but the queues, which hold what is still to be told. */
    private void closeInAnyOrder(Random random) throws InterruptedException {
        List<AutoCloseable> open = new ArrayList<>(List.of(traffic.near, traffic.far, pair.endpoint, pair.farEndpoint,
                pair.vector == null ? pair.passive : pair.vector));
        Collections.shuffle(open, random);
        long start = System.nanoTime();
        while (!open.isEmpty() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
            AutoCloseable one = open.removeFirst();
            if (!run.attempt("closes over " + family, one::close)) { open.add(one); }
            run.attempt("closes of what has open children", (random.nextBoolean() ? pair.domain : pair.fabric)::close);
            Thread.sleep(Duration.ofNanos(random.nextInt(2_000_000)));
        }
        if (!open.isEmpty()) { run.fail(new AssertionError("cannot be closed: " + open)); }
    }

    private void requireEachTokenOnce() {
        for (CompletionQueue queue : List.of(pair.queue, pair.farQueue)) {
            while (queue.poll(handler, 64) > 0) {
                Thread.onSpinWait();
            }
        }
        if (!posted.equals(returned)) {
            Set<Long> lost = new java.util.TreeSet<>(posted);
            lost.removeAll(returned);
            returned.removeAll(posted);
            run.fail(new AssertionError(family + ": tokens that were lost " + lost + ", of nobody " + returned));
        }
    }
}
