package io.ofi4j.job;

/**
 * A {@link Job} could not be joined, or is broken: the launcher cannot be spoken to, ranks did not come, or one has
 * gone. The message names the rank where it is known. A job that is broken stays so: end the process.
 */
public final class JobException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JobException(String message, Throwable cause) { super(message, cause); }

    JobException(String message) { super(message); }
}
