package io.ofi4j.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What random programs of one thread have in common: what they choose, and what they have done. */
abstract class ModelSteps {
    final Random random;
    final boolean isVerbose;
    final List<String> trace = new ArrayList<>();

    ModelSteps(long seed, boolean isVerbose) {
        this.random = new Random(seed);
        this.isVerbose = isVerbose;
    }

    /** Notes what comes next; printed at once where the JVM may die of it. */
    final void note(String step) {
        trace.add(step);
        if (isVerbose) { System.out.println("  " + trace.size() + ": " + step); }
    }

    final boolean chance(int percent) { return random.nextInt(100) < percent; }

    final <T> T pick(List<T> from) { return from.get(random.nextInt(from.size())); }
}
