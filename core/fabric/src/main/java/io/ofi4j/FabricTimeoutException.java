package io.ofi4j;

import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.Objects;

/** A deadline passed. Nothing is lost: operations that were posted stay posted. */
public final class FabricTimeoutException extends FabricException {
    private static final long serialVersionUID = 1L;

    /**
     * Says what did not happen in time, and why.
     *
     * @param operation what did not happen in time
     * @param deadline the time
     * @param why what may be the cause, and what to try: a sentence
     */
    public FabricTimeoutException(String operation, Duration deadline, String why) {
        super(operation + " did not succeed within " + Deadlines.text(deadline) + ". " + Objects.requireNonNull(why)
                + Status.descriptorShortage(1), operation, Errno.ETIMEDOUT);
    }
}
