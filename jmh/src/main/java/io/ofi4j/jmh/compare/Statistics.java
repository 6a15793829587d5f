package io.ofi4j.jmh.compare;

import java.util.Arrays;

/** Medians and quartiles. */
final class Statistics {
    private Statistics() {}

    /** {@return what a part of the values, from 0 to 1, is not above, between two of them where need be} */
    static double quantile(double[] values, double part) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double at = part * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    static double median(double[] values) { return quantile(values, 0.5); }
}
