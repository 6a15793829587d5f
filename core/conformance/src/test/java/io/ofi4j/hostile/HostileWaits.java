package io.ofi4j.hostile;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

/** Threads wait on what another closes: every wait ends long before its deadline. */
final class HostileWaits {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int WAITERS = 3;

    private HostileWaits() {}

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        while (run.goesOn()) {
            round(run, random);
            run.tried("rounds");
        }
    }

    private static void round(HostileRun run, Random random) throws InterruptedException {
        HostileTraffic traffic = new HostileTraffic(run.provider, HostileFamilies.one(random, run.provider));
        Pair pair = traffic.pair;
        Random own = run.random();
        Counter counter = pair.domain.openCounter();
        List<Thread> waiting = new ArrayList<>();
        AtomicBoolean isOver = new AtomicBoolean(); // where there is nothing to receive, nothing refuses it

        for (int i = 0; i < WAITERS; i++) {
            CompletionQueue queue = i % 2 == 0 ? pair.queue : pair.farQueue;
            Duration spin = random.nextBoolean() ? Duration.ZERO : Duration.ofNanos(random.nextInt(5_000_000));
            waiting.add(run.start("waiting on a queue", () -> run.attempt("wait", () -> {
                while (true) {
                    queue.await(HostileTraffic.IGNORE, 4, LONG, spin);
                }
            })));
        }
        waiting.add(run.start("waiting on a counter", () -> run.attempt("wait", () -> counter.await(5, LONG))));
        if (pair.events != null) {
            waiting.add(run.start("waiting on events", () -> run.attempt("wait", () -> {
                while (true) {
                    pair.events.read(LONG);
                }
            })));
        }
        waiting.add(run.start("posting", () -> run.attempt("posts over " + traffic.family, () -> {
            while (true) {
                traffic.post(own, 1);
            }
        })));
        Random its = run.random();
        waiting.add(run.start("receiving", () -> run.attempt("receives", () -> {
            while (!isOver.get()) {
                traffic.tryReceive(its, 0);
                Thread.onSpinWait();
            }
        })));
        Thread.sleep(random.nextInt(20));
        run.attempt("close", counter::close);
        run.attempt("close", () -> {
            traffic.close(HostileTraffic.IGNORE);
        });
        isOver.set(true);
        traffic.requireGuards(run);
        run.attempt("close again", pair.queue::close);
        run.join(waiting);
    }
}
