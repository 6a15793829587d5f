package io.ofi4j.errors;

import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
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
                + Descriptors.shortage(1), operation, Errno.ETIMEDOUT);
    }
}
