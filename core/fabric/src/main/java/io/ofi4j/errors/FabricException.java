package io.ofi4j.errors;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import java.util.Objects;

/**
 * A call of libfabric failed. The message names the call, the provider, libfabric's text for the error, and what to
 * try. Programs tell errors apart by {@link #errno}; unknown numbers are passed on unchanged. If the process cannot
 * open more files, the number is {@code EMFILE} (24), even where the provider returns another one.
 */
public class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final int errno;

    /**
     * Describes a failure.
     *
     * @param message what failed, and what to try
     * @param operation the C call that failed
     * @param errno the error number of fi_errno(3), positive; 0 where no call returned one
     */
    public FabricException(String message, String operation, int errno) {
        super(Objects.requireNonNull(message, "message"));
        this.operation = Objects.requireNonNull(operation, "operation");
        this.errno = errno;
        // the error of a completion was an event when it was read
        if (!operation.equals("fi_cq_readerr")) { RECORDER.failed(operation, errno, message); }
    }

    /** {@return the C call that failed, such as {@code fi_domain}} */
    public final String operation() {
        return operation;
    }

    /** {@return the error number of fi_errno(3), positive; 0 where no call returned one} */
    public final int errno() {
        return errno;
    }
}
