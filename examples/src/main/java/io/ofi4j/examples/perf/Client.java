package io.ofi4j.examples.perf;

import io.ofi4j.Libfabric;
import java.io.PrintWriter;
import io.ofi4j.examples.Release;

/** The measuring end, where the other is a server. */
final class Client {
    private final Libfabric libfabric;
    private final Settings settings;
    private final PrintWriter err;

    Client(Libfabric libfabric, Settings settings, PrintWriter err) {
        this.libfabric = libfabric;
        this.settings = settings;
        this.err = err;
    }

    /** {@return whether all was right} */
    Result run(Device device, Connection connection, Report report) throws Exception {
        Team team = new Team(settings.threads());
        return team.run(() -> measure(device, connection, team, new Progress(), report), () -> {
            try (Connection own = connection.again(); Device another = new Device(libfabric, device.info())) {
                return measure(another, own, team, Progress.hidden(), Report.NONE);
            }
        });
    }

    private Result measure(Device device, Connection connection, Team team, Progress progress, Report report) {
        Header header = new Header(settings, libfabric.version(), device.info(), connection.toString());
        try (Watchdog watchdog = Watchdog.start(settings.timeout(), err)) {
            Result result = new Benchmark(settings, team, progress, watchdog).measureAll(
                    Plan.of(settings, device.info()), plan -> open(device, connection, plan, watchdog), report, header);
            connection.bye();
            return result;
        }
    }

    private Place open(Device device, Connection connection, Plan plan, Watchdog watchdog) {
        End here = End.open(device, plan);
        try {
            return new Place(here,
                    new RemoteTarget(connection, here, setup(device, here, plan), settings.timeout(), watchdog));
        } catch (RuntimeException e) {
            here.close();
            throw e;
        }
    }

    private Setup setup(Device device, End here, Plan plan) {
        return new Setup(Release.VERSION, libfabric.version().toString(), settings.operation().toString(),
                device.kind(), Setup.text(settings.sizes()), plan.length(), plan.conversation(), here.introduction());
    }
}
