package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Release;
import io.ofi4j.command.control.Connection;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** The measuring end, where the other is a server. */
final class Client {
    private static final long UNTIL_SAID = 1_000_000_000;
    private static final long BETWEEN_LOOKS = 10_000_000;

    private final Settings settings;
    private final PrintWriter err;

    Client(Settings settings, PrintWriter err) {
        this.settings = settings;
        this.err = err;
    }

    /** {@return whether all was right} */
    Benchmark.Result run(Device device, Connection connection, Report report) throws Exception {
        MeasuringThreads team = new MeasuringThreads(settings.threads() * (settings.bidirectional() ? 2 : 1));
        List<Callable<Benchmark.Result>> more = new ArrayList<>();
        for (int thread = 0; thread < settings.threads(); thread++) {
            if (thread > 0) { more.add(() -> measureToo(device, connection, team)); }
            if (settings.bidirectional()) { more.add(() -> serve(device, connection, team)); }
        }
        return team.run(() -> {
            try (Watchdog watchdog = Watchdog.start(settings.timeout(), err, connection.other())) {
                return measure(device, connection, team, new Progress(), watchdog, report);
            }
        }, more);
    }

    /** With a device and a connection of its own. */
    private Benchmark.Result measureToo(Device device, Connection connection, Team team) {
        try (Connection own = connection.again();
                Watchdog watchdog = Watchdog.start(settings.timeout(), err, connection.other())) {
            watchdog.watchSlow();
            try (Device another = device.again()) {
                Benchmark.Result result = measure(another, own, team, Progress.hidden(), watchdog, Report.NONE);
                watchdog.watchSlow();
                return result;
            }
        }
    }

    Benchmark.Result measure(Device device, Connection connection, Team team, Progress progress, Watchdog watchdog,
            Report report) {
        Header header = new Header(settings, device.traits(), connection.place());
        try {
            Benchmark.Result result = new Benchmark(settings, team, progress, watchdog).measureAll(
                    Plan.of(settings, device.traits()), plan -> open(device, connection, plan, watchdog), report,
                    header);
            connection.bye();
            return result;
        } catch (FabricException e) {
            requireThere(connection);
            throw e;
        }
    }

    /** An operation may fail because the server has ended before the connection says so: then the server is named. */
    private static void requireThere(Connection connection) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < UNTIL_SAID) {
            connection.watch();
            LockSupport.parkNanos(BETWEEN_LOOKS);
        }
    }

    /** Serves the server, which measures the other direction; {@return nothing, for its rows are the team's} */
    private Benchmark.Result serve(Device device, Connection connection, Team team) {
        try (Connection own = connection.again();
                Watchdog watchdog = Watchdog.start(settings.timeout(), err, connection.other())) {
            Terms terms = new Terms(settings.operation(), device.kind(), device.traits().libfabric(), Optional.empty(),
                    Plan.longest(settings));
            own.channel().send(FrameType.REVERSE, Reverse.of(settings).encode(), settings.timeout());
            new Session(device, terms, own.channel(), settings.timeout(), team, watchdog).run(own.place());
            return null;
        } catch (ControlException e) {
            throw connection.failure(e);
        }
    }

    private Place open(Device device, Connection connection, Plan plan, Watchdog watchdog) {
        End here = device.open(plan, false);
        try {
            return new Place(here,
                    new RemoteTarget(connection, here, setup(device, here, plan), settings.timeout(), watchdog));
        } catch (RuntimeException e) {
            here.close();
            throw e;
        }
    }

    private Setup setup(Device device, End here, Plan plan) {
        return new Setup(Release.VERSION, device.traits().libfabric(), settings.operation().toString(), device.kind(),
                Setup.text(settings.sizes()), plan.length(), plan.conversation(), here.introduction(), here.remote());
    }

    /** The server's end, which makes progress by itself. */
    private static final class RemoteTarget implements Target {
        private final Connection connection;
        private final End here;
        private final Watchdog watchdog;
        private final Completions none;

        RemoteTarget(Connection connection, End here, Setup setup, Duration timeout, Watchdog watchdog) {
            this.watchdog = watchdog;
            this.connection = connection;
            this.here = here;
            this.none = new Completions(here);
            Ready ready = connection.read(ask(FrameType.SETUP, setup.encode(), FrameType.READY), Ready::decode);
            reach(ready, timeout);
            long offered = here.poster().targetLength();
            if (offered < setup.regionLength()) {
                throw new CommandFailure(connection + " offers " + offered + " bytes where " + setup.regionLength()
                        + " are needed: run the same release at both ends.");
            }
            watchdog.rest();
        }

        private void reach(Ready ready, Duration timeout) {
            watchdog.watch();
            try {
                here.reach(ready.address(), ready.region(), connection::watch, timeout);
            } catch (IllegalArgumentException | ConnectionException e) {
                throw new CommandFailure(connection + " cannot be reached: " + e.getMessage(), e);
            }
        }

        /** Asks and waits for the answer; what this side still has to send goes on meanwhile. */
        private Frame ask(FrameType question, PayloadWriter payload, FrameType answer) {
            watchdog.watch();
            Frame frame = connection.ask(question, payload, answer, () -> here.poll(none));
            watchdog.watchSlow();
            return frame;
        }

        @Override
        public boolean progress() { return false; }

        @Override
        public void watch() { connection.watch(); }

        @Override
        public void prepare(Layout layout, boolean fill, long seed) {
            ask(FrameType.PREPARE, new Slots(layout, fill, seed).encode(), FrameType.PREPARED);
        }

        @Override
        public int damaged(Layout layout, long seed) {
            Frame result = ask(FrameType.CHECK, new Slots(layout, true, seed).encode(), FrameType.RESULT);
            return connection.read(result, frame -> (int) frame.reader().number(0, layout.slots()));
        }

        @Override
        public void close() {
            // the connection outlives it
        }
    }
}
