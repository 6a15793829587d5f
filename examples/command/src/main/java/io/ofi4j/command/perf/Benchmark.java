package io.ofi4j.command.perf;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import org.HdrHistogram.Histogram;

/** Measures one size after the other. */
final class Benchmark {
    private static final long PASS_TIME = 500_000_000;
    private static final long FEWEST = 100;
    private static final long MOST = 1_000_000;
    private static final int VERIFICATION_SWEEPS = 8;

    /**
     * What came of a measurement beside its rows.
     *
     * @param errors how many operations were wrong
     * @param isInterrupted whether the user has ended it
     */
    record Result(long errors, boolean isInterrupted) {}

    private final Settings settings;
    private final Progress progress;
    private final Watchdog watchdog;
    private final Team team;
    private final WarmUp warmUp;
    private final SplittableRandom random = new SplittableRandom();

    Benchmark(Settings settings, Team team, Progress progress, Watchdog watchdog) {
        this.settings = settings;
        this.team = team;
        this.progress = progress;
        this.watchdog = watchdog;
        this.warmUp = new WarmUp(settings.warmUp(), team::isAsked);
    }

    /** Until all sizes are measured, or the user has enough. */
    Result measureAll(List<Plan> plans, Function<Plan, Place> opening, Report report, Header header) {
        long errors = 0;
        for (Plan plan : plans) {
            Result result;
            watchdog.watchSlow();
            try (Place place = opening.apply(plan)) {
                watchdog.rest();
                if (plan == plans.getFirst()) { report.header(header); }
                try {
                    result = measureSizes(plan, place, report);
                } finally {
                    watchdog.watchSlow(); // closing asks the provider too
                }
            }
            watchdog.rest();
            errors += result.errors();
            if (result.isInterrupted()) { return new Result(errors, true); }
        }
        return new Result(errors, false);
    }

    private Result measureSizes(Plan plan, Place place, Report report) {
        long errors = 0;
        for (long size : plan.sizes()) {
            Row row = team.add(measure(place, plan, plan.layout(size)));
            errors += row.errors();
            report.row(row);
            if (team.isStopped()) { return new Result(errors, true); }
        }
        return new Result(errors, false);
    }

    private Row measure(Place place, Plan plan, Layout layout) {
        long size = layout.size();
        Pump pump = new Pump(place, new Stall(place.target()::watch, settings.timeout()), watchdog);
        Transfer transfer = transfer(place, plan, layout);
        Pass pass = pass(place, pump, transfer, layout);
        watchdog.watch();
        double expected = warmUp.run(pass);
        meet();
        Timed timed = settings.rate().isPresent() ? pace(pass, layout) : time(pass, layout, expected);
        OptionalLong verified = OptionalLong.empty();
        long errors = 0;
        if (settings.verify() && !team.isAsked()) {
            int sweeps = Math.clamp(timed.operations / layout.slots(), 1, VERIFICATION_SWEEPS);
            errors = verify(place, pass, layout, sweeps);
            verified = OptionalLong.of((long) sweeps * layout.slots());
        }
        transfer.settle(pump);
        watchdog.rest();
        progress.end();
        return new Row(size, timed.operations, timed.nanosecondsPerOperation, timed.latencies, timed.fromPost, verified,
                errors);
    }

    private record Timed(long operations, double nanosecondsPerOperation, Histogram latencies,
            Optional<OpenLoop.FromPost> fromPost) {}

    /** In one pass. */
    private Timed pace(Pass pass, Layout layout) {
        Schedule schedule = Schedule.of(settings.rate().orElseThrow(), settings.threads(), settings.iterations(),
                settings.duration());
        begin(layout, schedule.operations());
        OpenLoop.Paced paced = pass.pace(schedule, team::isAsked, progress);
        return new Timed(paced.operations(), (double) paced.nanos() / Math.max(1, paced.operations()), paced.fromPlan(),
                Optional.of(paced.fromPost()));
    }

    private void begin(Layout layout, long operations) {
        progress.begin(settings.operation() + " " + layout.size() + " B", operations);
    }

    /** In a pass without clock calls, and one with them. */
    private Timed time(Pass pass, Layout layout, double expected) {
        long wanted = settings.iterations().orElse(expectedOperations(expected));
        begin(layout, 2 * wanted);
        Measurement timed = run(new Measurement(progress, team::isAsked, expected), wanted,
                operations -> pass.time(operations, progress));
        meet();
        Histogram latencies = Latencies.histogram();
        run(new Measurement(progress, team::isAsked, expected), wanted, operations -> {
            long start = System.nanoTime();
            pass.record(operations, latencies, progress);
            return System.nanoTime() - start;
        });
        return new Timed(timed.operations(), timed.nanosecondsPerOperation(), latencies, Optional.empty());
    }

    /** The others may still be warming up. */
    private void meet() {
        watchdog.rest();
        team.meet();
        watchdog.watch();
    }

    private long expectedOperations(double expected) {
        return duration().isPresent()
                ? Math.max(1, (long) (duration().getAsLong() / expected))
                : Math.clamp((long) (PASS_TIME / expected), FEWEST, MOST);
    }

    /** Several begin and end together. */
    private OptionalLong duration() {
        return (settings.threads() > 1 || settings.bidirectional()) && settings.iterations().isEmpty()
                && settings.duration().isEmpty() ? OptionalLong.of(PASS_TIME) : settings.duration();
    }

    private Measurement run(Measurement measurement, long wanted, LongUnaryOperator pass) {
        return duration().isPresent()
                ? measurement.runFor(duration().getAsLong(), pass)
                : measurement.run(wanted, pass);
    }

    private Transfer transfer(Place place, Plan plan, Layout layout) {
        if (plan.hasResponder()) { return new Transfer.OfMessages(place.here(), plan.conversation().orElseThrow()); }
        return switch (settings.operation()) {
            case ATOMIC -> new Transfer.OfAtomics(place.here(), layout);
            default -> new Transfer.OfRma(settings.operation(), place.here(), layout);
        };
    }

    private Pass pass(Place place, Pump pump, Transfer transfer, Layout layout) {
        if (settings.pingPong()) { return new PingPongPass((Transfer.OfMessages) transfer, pump); }
        return settings.operation() == Operation.INJECT
                ? new InjectPass(transfer, pump, place, Math.min(settings.window(), layout.slots()))
                : new CompletionPass(transfer, pump, layout.slots(), settings.window());
    }

    private long verify(Place place, Pass pass, Layout layout, int sweeps) {
        Verification verification = new Verification(settings.operation(), settings.pingPong(), place, layout);
        long errors = 0;
        for (int sweep = 0; sweep < sweeps; sweep++) {
            watchdog.watchSlow();
            verification.prepareTarget(random.nextLong());
            watchdog.watchSlow(); // memory may be large
            verification.prepareHere();
            watchdog.watch();
            pass.sweep(layout.slots());
            watchdog.watchSlow();
            errors += verification.damaged();
        }
        watchdog.watch();
        return errors;
    }
}
