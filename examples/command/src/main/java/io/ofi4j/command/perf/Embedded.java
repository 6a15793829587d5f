package io.ofi4j.command.perf;

import io.ofi4j.errors.FabricException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Collections;

/** Both ends in this process. */
final class Embedded {
    private final Settings settings;
    private final PrintWriter err;

    Embedded(Settings settings, PrintWriter err) {
        this.settings = settings;
        this.err = err;
    }

    /** {@return whether all was right} */
    Benchmark.Result run(Device device, Report report) throws Exception {
        MeasuringThreads team = new MeasuringThreads(settings.threads());
        return team.run(() -> {
            try (Watchdog watchdog = watchdog()) {
                return measure(device, team, new Progress(), watchdog, report);
            }
        }, Collections.nCopies(settings.threads() - 1, () -> measureToo(device, team)));
    }

    /** With a device of its own. */
    private Benchmark.Result measureToo(Device device, Team team) {
        try (Watchdog watchdog = watchdog()) {
            watchdog.watchSlow();
            try (Device own = device.again()) {
                Benchmark.Result result = measure(own, team, Progress.hidden(), watchdog, Report.NONE);
                watchdog.watchSlow();
                return result;
            }
        }
    }

    private Watchdog watchdog() { return Watchdog.start(settings.timeout(), err, ""); }

    private Benchmark.Result measure(Device device, Team team, Progress progress, Watchdog watchdog, Report report) {
        Header header = new Header(settings, device.traits(), null);
        return new Benchmark(settings, team, progress, watchdog).measureAll(Plan.of(settings, device.traits()),
                plan -> open(device, plan), report, header);
    }

    private Place open(Device device, Plan plan) {
        End here = openEnd(device, plan, false);
        try {
            End there = openEnd(device, plan, true);
            try {
                return new Place(here, new OwnTarget(here, there, settings.timeout()));
            } catch (RuntimeException e) {
                there.close();
                throw e;
            }
        } catch (RuntimeException e) {
            here.close();
            throw e;
        }
    }

    /** Opens an end in the common domain, or, as some providers allow one endpoint for each domain, in its own. */
    private static End openEnd(Device device, Plan plan, boolean isTarget) {
        try {
            return device.open(plan, isTarget);
        } catch (FabricException e) {
            Device own = device.again();
            try {
                End end = own.open(plan, isTarget);
                end.closeAfterwards(own);
                return end;
            } catch (RuntimeException again) {
                closeQuietly(own);
                throw e;
            }
        }
    }

    private static void closeQuietly(Device device) {
        try {
            device.close();
        } catch (RuntimeException e) {
            // the failure of the first attempt is reported
        }
    }

    /** A target in this process, which this thread polls too. */
    private static final class OwnTarget implements Target {
        private final End here;
        private final End there;
        private final Completions ours;
        private final Completions theirs;
        private final Duration patience;

        OwnTarget(End here, End there, Duration patience) {
            this.here = here;
            this.there = there;
            this.patience = patience;
            this.ours = new Completions(here);
            this.theirs = new Completions(there);
            there.admit(here.introduction(), here.remote());
            here.reach(there.address(), there.remote(), this::progress, patience);
        }

        @Override
        public boolean progress() { return there.poll(theirs); }

        @Override
        public void watch() {
            // it lives as long as this process
        }

        @Override
        public void prepare(Layout layout, boolean fill, long seed) {
            if (fill) {
                Pattern.fill(there.memory(), layout, seed);
            } else {
                Pattern.clear(there.memory(), layout);
            }
            there.store();
        }

        @Override
        public int damaged(Layout layout, long seed) {
            return there.damaged(layout, seed, () -> {
                here.poll(ours);
                there.poll(theirs);
            }, patience);
        }

        @Override
        public void close() { there.close(); }
    }
}
