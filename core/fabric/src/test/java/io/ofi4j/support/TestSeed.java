package io.ofi4j.support;

import java.util.Random;

/**
 * The seed of what is random in tests. Each run has another one, which is printed; {@code -Dofi4j.test.seed=N} gives a run the values
 * of an earlier one.
 */
public final class TestSeed {
    private static final String PROPERTY = "ofi4j.test.seed";
    private static final long SEED = Long.getLong(PROPERTY, System.nanoTime());

    static {
        System.out.println("seed of random values: -D" + PROPERTY + "=" + SEED);
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
