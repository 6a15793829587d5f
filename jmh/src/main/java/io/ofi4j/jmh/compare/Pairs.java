package io.ofi4j.jmh.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** What neighbouring slices of both sides took. */
final class Pairs {
    private record Pair(double c, double java) {
        double ratio() { return java / c; }
    }

    private final List<Pair> pairs = new ArrayList<>();

    void add(double c, double java) { pairs.add(new Pair(c, java)); }

    int count() { return pairs.size(); }

    double medianOfC() { return quantile(Pair::c, 0.5); }

    double medianOfJava() { return quantile(Pair::java, 0.5); }

    /** {@return what a part of the pairs' ratios, from 0 to 1, is not above} */
    double ratio(double part) {
        return quantile(Pair::ratio, part);
    }

    private double quantile(ToDoubleFunction<Pair> what, double part) {
        return Statistics.quantile(pairs.stream().mapToDouble(what).toArray(), part);
    }
}
