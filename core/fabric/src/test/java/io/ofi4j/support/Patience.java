package io.ofi4j.support;

import java.time.Duration;

/**
 * How long the tests wait for what should come soon. On a machine that is emulated all takes longer:
 * {@code -Dofi4j.test.patience} says by what factor.
 */
public final class Patience {
    private static final String PROPERTY = "ofi4j.test.patience";
    private static final int FACTOR = Integer.getInteger(PROPERTY, 1);

    private Patience() {}

    /** So many seconds of an ordinary machine. */
    public static Duration seconds(int seconds) {
        return Duration.ofSeconds(Math.multiplyExact((long) seconds, FACTOR));
    }

    /** The option that gives another JVM the same. */
    public static String option() {
        return "-D" + PROPERTY + "=" + FACTOR;
    }
}
