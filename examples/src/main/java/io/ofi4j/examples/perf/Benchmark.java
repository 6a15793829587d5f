package io.ofi4j.examples.perf;

import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/** Measures one size after the other. */
final class Benchmark {
    private static final long PASS_TIME = 500_000_000;
    private static final long FEWEST = 100;
    private static final long MOST = 1_000_000;
    private static final int VERIFICATION_SLOTS = 256;
    private static final int VERIFICATION_SWEEPS = 8;

    private final Settings settings;
    private final End here;
    private final Target target;
    private final Progress progress;
    private final Watchdog watchdog;
    private final WarmUp warmUp;
    private final SplittableRandom random = new SplittableRandom();

    Benchmark(Settings settings, End here, Target target, Progress progress, Watchdog watchdog) {
        this.settings = settings;
        this.here = here;
        this.target = target;
        this.progress = progress;
        this.watchdog = watchdog;
        this.warmUp = new WarmUp(settings.warmUp());
    }

    /** {@return how many bytes both regions need for these settings} */
    static long regionLength(Settings settings) {
        return settings.sizes().stream().mapToLong(size -> layout(settings, size).regionLength()).max().orElseThrow();
    }

    private static Layout layout(Settings settings, long size) {
        return Layout.of(size, Math.max(settings.window(), VERIFICATION_SLOTS));
    }

    /** {@return how many operations were wrong} */
    long measureAll(Report report) {
        long errors = 0;
        for (long size : settings.sizes()) {
            Row row = measure(size);
            errors += row.errors();
            report.row(row);
        }
        return errors;
    }

    private Row measure(long size) {
        Layout layout = layout(settings, size);
        Pass pass = pass(layout);
        watchdog.watch();
        double expected = warmUp.run(pass);
        long operations = settings.iterations().orElse(Math.clamp((long) (PASS_TIME / expected), FEWEST, MOST));
        progress.begin(settings.operation() + " " + size + " B", 2 * operations);
        long time = pass.time(operations, progress);
        Histogram latencies = Latencies.histogram();
        pass.record(operations, latencies, progress);
        OptionalLong verified = OptionalLong.empty();
        long errors = 0;
        if (settings.verify()) {
            int sweeps = Math.clamp(operations / layout.slots(), 1, VERIFICATION_SWEEPS);
            errors = verify(pass, layout, sweeps);
            verified = OptionalLong.of((long) sweeps * layout.slots());
        }
        watchdog.rest();
        progress.end();
        return new Row(size, operations, (double) time / operations, latencies.getValueAtPercentile(50),
                latencies.getValueAtPercentile(99), latencies.getValueAtPercentile(99.9), verified, errors);
    }

    private Pass pass(Layout layout) {
        Transfer transfer = new Transfer(settings.operation(), here, target, layout);
        Pump pump = new Pump(here, target, new Completions(), new Stall(target, settings.timeout()), watchdog);
        return settings.operation() == Operation.INJECT
                ? new InjectPass(transfer, pump, new Arrival(here, target, pump),
                        Math.min(settings.window(), layout.slots()))
                : new CompletionPass(transfer, pump, layout.slots(), settings.window());
    }

    private long verify(Pass pass, Layout layout, int sweeps) {
        boolean reads = settings.operation() == Operation.READ;
        long errors = 0;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            long seed = random.nextLong();
            watchdog.watch();
            target.prepare(layout, reads, seed);
            watchdog.rest(); // memory may be large
            if (reads) {
                Pattern.clear(here.region().segment(), layout);
            } else {
                Pattern.fill(here.region().segment(), layout, seed);
            }
            watchdog.watch();
            pass.sweep(layout.slots());
            watchdog.rest();
            errors += reads ? Pattern.damaged(here.region().segment(), layout, seed) : target.damaged(layout, seed);
        }
        return errors;
    }
}
