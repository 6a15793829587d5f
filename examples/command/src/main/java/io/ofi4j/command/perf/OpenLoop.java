package io.ofi4j.command.perf;

import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Where a pass of an open loop stands: which operations have begun, and the latencies of those that are done, from the
 * planned start and from the post. A late operation is late by its own plan, so that a pause counts in the latency of
 * every operation that it has delayed.
 */
final class OpenLoop {
    private static final int TURNS_PER_LOOK = 1024;

    private final Schedule schedule;
    private final BooleanSupplier isAsked;
    private final Histogram fromPlan = Latencies.histogram();
    private final Histogram fromPost = Latencies.histogram();
    private final long start = System.nanoTime();
    private long posted;
    private boolean isOpen = true;
    private int turns;

    OpenLoop(Schedule schedule, BooleanSupplier isAsked) {
        this.schedule = schedule;
        this.isAsked = isAsked;
    }

    /** {@return whether operations still begin; the user is asked now and then} */
    boolean isOpen() {
        if (isOpen) {
            isOpen = schedule.hasTurn(posted, elapsed()) && !(++turns % TURNS_PER_LOOK == 0 && isAsked.getAsBoolean());
        }
        return isOpen;
    }

    /** {@return whether it is time for the next operation} */
    boolean isDue() {
        long elapsed = elapsed();
        return isOpen && schedule.hasTurn(posted, elapsed) && elapsed >= schedule.start(posted);
    }

    /** {@return the planned start of the next operation, as System.nanoTime() has it} */
    long planned() {
        return start + schedule.start(posted);
    }

    void posted() { posted++; }

    long count() { return posted; }

    Histogram fromPlan() { return fromPlan; }

    Histogram fromPost() { return fromPost; }

    private long elapsed() { return System.nanoTime() - start; }

    /** {@return the result, now that all that have begun are done} */
    Paced end() {
        return new Paced(posted, schedule.taken(posted, elapsed()), fromPlan,
                new FromPost(schedule.interval(), fromPost));
    }

    /**
     * What came of it.
     *
     * @param operations how many have begun, and are done
     * @param nanos how long that took
     * @param fromPlan latencies from the planned start
     * @param fromPost latencies from the post
     */
    record Paced(long operations, long nanos, Histogram fromPlan, FromPost fromPost) {}

    /**
     * The other view of an open loop.
     *
     * @param interval the nanoseconds between two planned starts
     * @param latencies from the post, which leave out how late the post was
     */
    record FromPost(double interval, Histogram latencies) {
        private static final long MOST_STEPS = 10_000;

        /**
         * {@return the latencies with what HdrHistogram adds for operations that a slow one may have delayed} Where
         * those are very many, some of them next to each other count as their middle: a pause of a minute is sixty
         * thousand million intervals of the highest rate.
         */
        Histogram corrected() {
            long each = Math.max(1, (long) interval);
            Histogram all = latencies.copy();
            for (HistogramIterationValue recorded : latencies.recordedValues()) {
                long slow = recorded.getValueIteratedTo();
                long delayed = Math.max(0, slow / each - 1);
                long step = Math.max(1, Math.ceilDiv(delayed, MOST_STEPS));
                for (long first = 1; first <= delayed; first += step) {
                    long count = Math.min(step, delayed - first + 1);
                    all.recordValueWithCount(slow - each * (first + (count - 1) / 2),
                            count * recorded.getCountAtValueIteratedTo());
                }
            }
            return all;
        }
    }
}
