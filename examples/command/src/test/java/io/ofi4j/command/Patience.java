package io.ofi4j.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How long the tests wait for what should come soon: longer on a machine that is busy, by its load for each processor,
 * and on one that is emulated, by the factor {@code OFI4J_PATIENCE} of the environment. As that of core's tests.
 */
public final class Patience {
    private static final int FACTOR = Integer.parseInt(System.getenv().getOrDefault("OFI4J_PATIENCE", "1"));
    private static final int MAX_LOAD = 20;
    private static final Path LOAD = Path.of("/proc/loadavg");

    private Patience() {}

    /** {@return so many seconds of an ordinary machine that is idle} */
    public static Duration seconds(int seconds) {
        return Duration.ofSeconds(Math.multiplyExact((long) seconds, FACTOR * load()));
    }

    /** The processes that compute, for each processor, 1 at least. */
    private static int load() {
        try {
            double running = Double.parseDouble(Files.readString(LOAD).split(" ")[0]);
            return Math.clamp((long) Math.ceil(running / Runtime.getRuntime().availableProcessors()), 1, MAX_LOAD);
        } catch (IOException e) {
            return 1;
        }
    }
}
