package io.ofi4j.command.perf;

import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;

/** Runs both passes until the compiler has done its work, and finds out how many operations fit the time of a pass. */
final class WarmUp {
    private static final long FIRST_TIME = 1_000_000_000;
    private static final long TIME = 300_000_000;
    private static final long MOST = 1_000_000;
    private static final long PROBE = 100;

    private final OptionalLong asked;
    private final BooleanSupplier isInterrupted;
    private boolean begun;

    WarmUp(OptionalLong asked, BooleanSupplier isInterrupted) {
        this.asked = asked;
        this.isInterrupted = isInterrupted;
    }

    /** {@return how many nanoseconds an operation takes about} */
    double run(Pass pass) {
        Histogram scratch = Latencies.histogram();
        if (asked.isPresent()) {
            inParts(part -> pass.time(part, Ticks.NONE));
            inParts(part -> pass.record(part, scratch, Ticks.NONE));
            long probe = Math.clamp(asked.getAsLong(), 1, PROBE);
            return (double) pass.time(probe, Ticks.NONE) / probe;
        }
        long time = begun ? TIME : FIRST_TIME;
        begun = true;
        long start = System.nanoTime();
        long last = 0;
        long operations = 1;
        while (System.nanoTime() - start < time) {
            operations = Math.min(2 * operations, MOST);
            pass.record(operations, scratch, Ticks.NONE);
            last = pass.time(operations, Ticks.NONE);
        }
        return (double) last / operations;
    }

    /** As many operations as were asked for, unless the user has enough before. */
    private void inParts(LongConsumer pass) {
        for (long left = asked.getAsLong(); left > 0 && !isInterrupted.getAsBoolean(); left -= MOST) {
            pass.accept(Math.min(left, MOST));
        }
    }
}
