package io.ofi4j.hostile;

import io.ofi4j.ProgressThread;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Interrupts every thread of the library and of the caller, again and again. */
final class HostileInterrupts {
    private static final Duration SHORT = Duration.ofMillis(5);

    private HostileInterrupts() {}

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        HostileTraffic traffic = new HostileTraffic(run.provider, HostileFamilies.one(random, run.provider));
        Pair pair = traffic.pair;
        ProgressThread progress = pair.domain.startProgress();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Random own = run.random();
            threads.add(run.start("hostile-" + i, () -> {
                while (run.goesOn()) {
                    run.attempt("wait", () -> pair.queue.await(HostileTraffic.IGNORE, 4, SHORT));
                    run.attempt("posts over " + traffic.family, () -> traffic.post(own, 1));
                    if (Thread.interrupted()) { run.tried("interrupts of the caller"); }
                }
            }));
        }
        Random its = run.random();
        threads.add(run.start("hostile-receiver", () -> {
            while (run.goesOn()) {
                run.attempt("receives", () -> traffic.tryReceive(its, 0));
                run.attempt("wait", () -> pair.farQueue.await(HostileTraffic.IGNORE, 4, SHORT));
            }
        }));
        while (run.goesOn()) {
            for (Thread thread : all()) {
                if (random.nextBoolean()) { thread.interrupt(); }
            }
            run.tried("interrupts of all");
            Thread.sleep(0, 200_000);
        }
        run.join(threads);
        requireRest(run, progress);
        run.attempt("close", () -> {
            progress.close();
            traffic.close(HostileTraffic.IGNORE);
        });
        traffic.requireGuards(run);
    }

    private static List<Thread> all() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("ofi4j") || thread.getName().startsWith("hostile-"))
                .filter(thread -> !thread.getName().equals("hostile-watch")).toList();
    }

    /** An interrupted progress thread goes on, and does not use a whole processor. */
    private static void requireRest(HostileRun run, ProgressThread progress) throws InterruptedException {
        if (!progress.isRunning()) {
            run.fail(new AssertionError("an interrupt ended the progress thread", progress.failure().orElse(null)));
            return;
        }
        Thread thread = all().stream().filter(one -> one.getName().equals("ofi4j-progress")).findFirst().orElseThrow();
        Duration before = used();
        thread.interrupt();
        Thread.sleep(1000);
        long used = used().minus(before).toMillis();
        if (used > 700) {
            run.fail(new AssertionError("an interrupted progress thread used " + used + " ms of a second"));
        }
        if (!progress.isRunning()) { run.fail(new AssertionError("an interrupt ended the progress thread")); }
    }

    /** The processor time of this process. */
    private static Duration used() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
    }
}
