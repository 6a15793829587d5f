package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import java.time.Duration;

/** Ends a measurement in which nothing moves any more. */
final class Stall {
    private final Runnable watch;
    private final Duration timeout;
    private long done = -1;
    private long since;

    /** @param watch called while nothing happens; throws if the peer has gone */
    Stall(Runnable watch, Duration timeout) {
        this.watch = watch;
        this.timeout = timeout;
    }

    /** Called now and then while nothing happens, with how many operations are done; lets other threads run. */
    void check(long doneNow) {
        long now = System.nanoTime();
        if (doneNow != done) {
            done = doneNow;
            since = now;
        } else if (now - since > timeout.toNanos()) {
            throw new CommandFailure("Nothing moved for " + timeout.toMillis() / 1000.0
                    + " s: try another provider (-p), or a longer --timeout.");
        }
        watch.run();
        Thread.yield();
    }

    /** A new pass begins. */
    void reset() { done = -1; }
}
