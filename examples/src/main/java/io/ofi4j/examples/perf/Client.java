package io.ofi4j.examples.perf;

import io.ofi4j.Access;
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
    Result run(Device device, Connection connection, Report report) {
        long length = Benchmark.regionLength(settings);
        try (Watchdog watchdog = Watchdog.start(settings.timeout(), err);
                End here = End.open(device, settings.window(), length, Access.READ, Access.WRITE);
                Target target = new RemoteTarget(connection, here, setup(device, here, length), settings.timeout(),
                        watchdog)) {
            report.header(new Header(settings.operation(), libfabric.version(), device.info(), settings.window(),
                    settings.verify(), connection.toString()));
            Result result = new Benchmark(settings, here, target, new Progress(), watchdog).measureAll(report);
            connection.bye();
            watchdog.watch(); // closing asks the provider too
            return result;
        }
    }

    private Setup setup(Device device, End here, long length) {
        return new Setup(Release.VERSION, libfabric.version().toString(), settings.operation().toString(),
                device.kind(), Setup.text(settings.sizes()), length, here.introduction());
    }
}
