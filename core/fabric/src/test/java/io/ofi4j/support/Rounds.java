package io.ofi4j.support;

/**
 * How often a test repeats what is random or what two threads do at once: a few times in the gate, and
 * {@code -Dofi4j.test.rounds=N} times as often in {@code scripts/test --long}. A number of rounds, and no time, so that
 * each run does the same.
 */
public final class Rounds {
    private static final String PROPERTY = "ofi4j.test.rounds";
    private static final int FACTOR = Integer.getInteger(PROPERTY, 1);

    private Rounds() {}

    /** So many rounds of the gate. */
    public static int of(int rounds) { return Math.multiplyExact(rounds, FACTOR); }

    /** The option that gives another JVM the same. */
    public static String option() {
        return "-D" + PROPERTY + "=" + FACTOR;
    }
}
