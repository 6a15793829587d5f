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
     * Describes a deadline that has passed.
     *
     * @param operation what did not happen in time
     * @param deadline the time
     * @param why a sentence with the likely cause and what to try
     */
    public FabricTimeoutException(String operation, Duration deadline, String why) {
        super(operation + " did not succeed within " + Deadlines.text(deadline) + ". " + Objects.requireNonNull(why)
                + Status.descriptorShortage(1), operation, Errno.ETIMEDOUT);
    }
}
