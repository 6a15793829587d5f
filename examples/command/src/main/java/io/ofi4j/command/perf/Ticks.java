package io.ofi4j.command.perf;

/** Is told now and then how far the work has come. */
@FunctionalInterface
interface Ticks {
    /** For work that nobody follows. */
    Ticks NONE = done -> {};

    /** How many operations of a pass there are between two ticks, a twentieth of them. */
    static long interval(long operations) {
        return Math.max(1, operations / 20);
    }

    /** So many operations more are done. */
    void advance(long operations);
}
