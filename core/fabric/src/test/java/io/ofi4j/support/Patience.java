package io.ofi4j.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How long the tests wait for what should come soon: longer on a machine that is busy, by its load for each processor,
 * and on one that is emulated, by the factor {@code -Dofi4j.test.patience}.
 */
public final class Patience {
    private static final String PROPERTY = "ofi4j.test.patience";
    private static final int FACTOR = Integer.getInteger(PROPERTY, 1);
    private static final int MAX_LOAD = 20;
    private static final Path LOAD = Path.of("/proc/loadavg");

    private Patience() {}

    /** So many seconds of an ordinary machine that is idle. */
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

    /** The option that gives another JVM the same. */
    public static String option() {
        return "-D" + PROPERTY + "=" + FACTOR;
    }
}
