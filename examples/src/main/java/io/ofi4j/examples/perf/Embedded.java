package io.ofi4j.examples.perf;

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
        Header header = new Header(settings, libfabric.version(), device.info(), null);
        return new Benchmark(settings, new Progress(), Watchdog.asleep()).measureAll(Plan.of(settings, device.info()),
                plan -> open(device, plan), report, header);
    }

    private Place open(Device device, Plan plan) {
        End here = End.open(device, plan);
        try {
            End there = End.openTarget(device, plan);
            try {
                return new Place(here, new EmbeddedTarget(here, there, settings.timeout()));
            } catch (RuntimeException e) {
                there.close();
                throw e;
            }
        } catch (RuntimeException e) {
            here.close();
            throw e;
        }
    }
}
