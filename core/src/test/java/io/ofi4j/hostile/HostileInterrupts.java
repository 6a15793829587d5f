package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.MemoryRegion;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Interrupts every thread of the library and of the caller, again and again. */
final class HostileInterrupts {
    private static final CompletionHandler IGNORE = (token, flags, length, data) -> {};
    private static final Duration SHORT = Duration.ofMillis(5);

    private HostileInterrupts() {}

    static void run(HostileRun run) throws Exception {
        Pair pair = new Pair(run.provider);
        MemoryRegion local = pair.domain.allocate(64, Access.values());
        RemoteRegion remote = local.remote();
        ProgressThread progress = pair.domain.startProgress();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            threads.add(run.start("hostile-" + i, () -> {
                while (run.goesOn()) {
                    run.attempt("wait", () -> pair.queue.await(IGNORE, 4, SHORT));
                    run.attempt("write", () -> pair.rma().write(local, 0, 8, pair.far, remote, 8, 1));
                    if (Thread.interrupted()) { run.tried("interrupts of the caller"); }
                }
            }));
        }
        Random random = run.random();
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
            local.close();
            pair.close();
        });
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
