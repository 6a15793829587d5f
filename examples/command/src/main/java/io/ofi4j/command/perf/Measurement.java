package io.ofi4j.command.perf;

import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;

/**
 * How much of a pass is done. A long pass is cut into parts, so that it can end by the clock or by Ctrl-C, and says its
 * rate meanwhile.
 */
final class Measurement {
    private static final long PART_NANOS = 50_000_000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Progress progress;
    private final BooleanSupplier isInterrupted;
    private long part;
    private long operations;
    private long nanos;

    /** For operations of which each takes about so many nanoseconds. */
    Measurement(Progress progress, BooleanSupplier isInterrupted, double expected) {
        this.progress = progress;
        this.isInterrupted = isInterrupted;
        part = Math.max(1, (long) (PART_NANOS / expected));
    }

    /** Runs parts, one at least, until so many operations are done. The pass says how many nanoseconds a part took. */
    Measurement run(long wanted, LongUnaryOperator pass) {
        do {
            runPart(Math.min(part, wanted - operations), pass);
        } while (operations < wanted && !isInterrupted.getAsBoolean());
        return this;
    }

    /** Runs parts, one at least, until so many nanoseconds are over. */
    Measurement runFor(long wantedNanos, LongUnaryOperator pass) {
        do {
            runPart(part, pass);
        } while (nanos < wantedNanos && !isInterrupted.getAsBoolean());
        return this;
    }

    private void runPart(long count, LongUnaryOperator pass) {
        long taken = pass.applyAsLong(count);
        if (taken < PART_NANOS / 2) { part *= 2; } // what was expected was of a cold start
        nanos += taken;
        operations += count;
        progress.rate(operations * NANOS_PER_SECOND / nanos);
    }

    long operations() { return operations; }

    double nanosecondsPerOperation() { return (double) nanos / Math.max(1, operations); }
}
