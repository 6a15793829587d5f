package io.ofi4j.jmh.compare;

/** Divides the time that there is among what is still to be done. */
final class Plan {
    /** What two processes do is longer than what one does: slower, and its rare delays are asked for. */
    static final int EXCHANGE_WEIGHT = 2;
    /**
     * To start the workers of a family takes time, too; without it, a short run had none left for the last families.
     */
    static final int START_WEIGHT = 3;

    private static final double WARM_UP = 0.35;
    /** Also where the time is over: what is not compiled takes several times as long. */
    private static final long SHORTEST_WARM_UP = 150_000_000;

    private final long end;

    private Plan(long end) { this.end = end; }

    /** {@return a plan for so much time from now on} */
    static Plan of(double seconds) {
        return new Plan(System.nanoTime() + (long) (seconds * 1e9));
    }

    /** {@return a plan for a part, from 0 to 1, of what is left} */
    Plan part(double part) {
        return new Plan(System.nanoTime() + (long) (left() * part));
    }

    /** {@return whether there is no time left} */
    boolean isOver() { return left() == 0; }

    private long left() { return Math.max(0, end - System.nanoTime()); }

    /** {@return for how many nanoseconds to warm up each of so many things, all of which are measured later} */
    long warmUp(int things) {
        return Math.max(SHORTEST_WARM_UP, (long) (left() * WARM_UP / things));
    }

    /** {@return for how many nanoseconds to do the first of so many things} */
    long turn(int things) {
        return left() / things;
    }
}
