package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

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
        Pair pair = new Pair(run.provider);
        MemoryRegion local = pair.domain.allocate(64, Access.values());
        RemoteRegion remote = local.remote();
        Counter counter = pair.domain.openCounter();
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            CompletionQueue queue = i % 2 == 0 ? pair.queue : pair.farQueue;
            waiting.add(run.start("waiting on a queue", () -> run.attempt("wait", () -> {
                while (true) {
                    queue.await((token, flags, length, data) -> {}, 4, LONG);
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
        waiting.add(run.start("posting", () -> run.attempt("write", () -> {
            while (true) {
                pair.rma().write(local, 0, 8, pair.far, remote, 8, 1);
            }
        })));
        Thread.sleep(random.nextInt(20));
        run.attempt("close", counter::close);
        run.attempt("close", () -> {
            pair.endpoint.close();
            local.close();
            pair.close();
        });
        run.attempt("close again", pair.queue::close);
        run.join(waiting);
    }
}
