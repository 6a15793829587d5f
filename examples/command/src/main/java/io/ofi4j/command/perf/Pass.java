package io.ofi4j.command.perf;

import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Posts operations and waits until they are done. The loops allocate nothing. */
interface Pass {
    /** {@return how many nanoseconds so many operations take, without a clock call for each} */
    long time(long operations, Ticks ticks);

    /** Records how long each of so many operations takes. */
    void record(long operations, Histogram latencies, Ticks ticks);

    /** Begins operations by the plan of an open loop, and records how long each takes. */
    OpenLoop.Paced pace(Schedule schedule, BooleanSupplier isAsked, Ticks ticks);

    /** Uses every slot once. */
    void sweep(int slots);
}
