package io.ofi4j.support;

import java.util.Random;

/**
 * The seed of what is random in tests. It is the same in each run, so that a run repeats the one before;
 * {@code -Dofi4j.test.seed=N} gives other values, and {@code scripts/test --long} a new seed each time. It is printed
 * by whoever uses it, and stands in the report of a test that has failed.
 */
public final class TestSeed {
    private static final String PROPERTY = "ofi4j.test.seed";
    private static final long SEED = Long.getLong(PROPERTY, 1);

    static {
        System.out.println("seed of random values: " + option());
    }

    private TestSeed() {}

    /**
     * {@return random values that depend on the seed and on who asks, not on the tests that ran before}
     *
     * @param user who asks, such as the name of a test
     */
    public static Random random(String user) { return new Random(SEED ^ (long) user.hashCode() << Integer.SIZE); }

    /** The option that gives another JVM the same. */
    public static String option() {
        return "-D" + PROPERTY + "=" + SEED;
    }
}
