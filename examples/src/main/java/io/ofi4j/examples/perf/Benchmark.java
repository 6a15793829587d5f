package io.ofi4j.examples.perf;

import io.ofi4j.examples.Interrupt;
import java.util.OptionalLong;
import java.util.function.LongUnaryOperator;
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

    /** Until all sizes are measured, or the user has enough. */
    Result measureAll(Report report) {
        long errors = 0;
        try (Interrupt interrupt = new Interrupt()) {
            for (long size : settings.sizes()) {
                Row row = measure(size, interrupt);
                errors += row.errors();
                report.row(row);
                if (interrupt.isAsked()) { return new Result(errors, true); }
            }
        }
        return new Result(errors, false);
    }

    private Row measure(long size, Interrupt interrupt) {
        Layout layout = layout(settings, size);
        Pass pass = pass(layout);
        watchdog.watch();
        double expected = warmUp.run(pass);
        long wanted = settings.iterations().orElse(expectedOperations(expected));
        progress.begin(settings.operation() + " " + size + " B", 2 * wanted);
        Measurement timed = run(new Measurement(progress, interrupt::isAsked, expected), wanted,
                operations -> pass.time(operations, progress));
        Histogram latencies = Latencies.histogram();
        run(new Measurement(progress, interrupt::isAsked, expected), wanted, operations -> {
            long start = System.nanoTime();
            pass.record(operations, latencies, progress);
            return System.nanoTime() - start;
        });
        OptionalLong verified = OptionalLong.empty();
        long errors = 0;
        if (settings.verify() && !interrupt.isAsked()) {
            int sweeps = Math.clamp(timed.operations() / layout.slots(), 1, VERIFICATION_SWEEPS);
            errors = verify(pass, layout, sweeps);
            verified = OptionalLong.of((long) sweeps * layout.slots());
        }
        watchdog.rest();
        progress.end();
        return new Row(size, timed.operations(), timed.nanosecondsPerOperation(), latencies, verified, errors);
    }

    private long expectedOperations(double expected) {
        return settings.duration().isPresent()
                ? Math.max(1, (long) (settings.duration().getAsLong() / expected))
                : Math.clamp((long) (PASS_TIME / expected), FEWEST, MOST);
    }

    private Measurement run(Measurement measurement, long wanted, LongUnaryOperator pass) {
        return settings.duration().isPresent()
                ? measurement.runFor(settings.duration().getAsLong(), pass)
                : measurement.run(wanted, pass);
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
