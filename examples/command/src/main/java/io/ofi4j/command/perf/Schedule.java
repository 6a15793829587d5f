package io.ofi4j.command.perf;

import java.util.OptionalLong;

/**
 * When operations begin that are not to wait for one another: one after each interval.
 *
 * @param interval the nanoseconds from one planned start to the next
 * @param operations how many there are
 * @param deadline after so many nanoseconds none begins any more
 */
record Schedule(double interval, long operations, long deadline) {
    private static final double NANOS_PER_SECOND = 1e9;
    /** Where the user says neither how many nor how long. */
    private static final long USUAL_NANOS = 2_000_000_000;

    /** {@return the schedule of one of so many threads, which keep the rate together} */
    static Schedule of(long rate, int threads, OptionalLong iterations, OptionalLong duration) {
        double interval = threads * NANOS_PER_SECOND / rate;
        if (iterations.isPresent()) { return new Schedule(interval, iterations.getAsLong(), Long.MAX_VALUE); }
        long nanos = duration.orElse(USUAL_NANOS);
        return new Schedule(interval, Math.max(1, (long) (nanos / interval)), nanos);
    }

    /** {@return the planned start of an operation, in nanoseconds from the beginning} */
    long start(long operation) {
        return (long) (operation * interval);
    }

    /** {@return whether this operation still has its turn} */
    boolean hasTurn(long operation, long elapsed) {
        return operation < operations && elapsed < deadline;
    }

    /** {@return how long so many operations have taken, which is not less than the plan has for them} */
    long taken(long done, long elapsed) {
        return Math.max(elapsed, start(done));
    }
}
