package io.ofi4j.examples.perf;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;

/** Both ends in this process. */
final class Embedded {
    private final Libfabric libfabric;
    private final Settings settings;

    Embedded(Libfabric libfabric, Settings settings) {
        this.libfabric = libfabric;
        this.settings = settings;
    }

    /** {@return whether all was right} */
    Result run(Device device, Report report) {
        long length = Benchmark.regionLength(settings);
        try (End here = End.open(device, settings.window(), length, Access.READ, Access.WRITE);
                End there = End.open(device, 1, length, settings.operation().remoteAccess());
                Target target = new EmbeddedTarget(here, there, settings.timeout())) {
            report.header(new Header(settings.operation(), libfabric.version(), device.info(), settings.window(),
                    settings.verify(), null));
            return new Benchmark(settings, here, target, new Progress(), Watchdog.asleep()).measureAll(report);
        }
    }
}
