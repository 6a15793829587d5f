package io.ofi4j.job;

/**
 * A {@link Job} could not be joined, or is broken: the launcher cannot be reached, ranks did not join, or one has gone.
 * The message names the rank if it is known. A broken job stays broken: end the process.
 */
public final class JobException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JobException(String message, Throwable cause) { super(message, cause); }

    JobException(String message) { super(message); }
}
