package io.ofi4j.conformance;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * The process that has the far end of a {@link Pair}: on this machine or on another, which makes no difference here.
 */
public interface FarProcess {
    /** Writes a line to its standard input. */
    void say(String line);

    /**
     * {@return the next line that it prints; empty if it has ended}
     *
     * @throws TimeoutException if none comes in time
     */
    Optional<String> line(Duration deadline) throws InterruptedException, TimeoutException;

    /** Sends it a signal: TERM, KILL, STOP or CONT. */
    void signal(String name);

    /** {@return whether it has ended, after it was waited for so long at most} */
    boolean ended(Duration deadline);

    /** {@return how it ended, in words; it must have ended} */
    String ending();

    /** Gives it back for the next trial. It has closed everything. */
    void release();
}
