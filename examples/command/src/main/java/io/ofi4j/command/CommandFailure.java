package io.ofi4j.command;

/** A command cannot do what it was asked to; the message is the sentence that the user reads. */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A failure.
     *
     * @param message what happened and what to try
     */
    public CommandFailure(String message) { super(message); }

    /**
     * A failure with what caused it.
     *
     * @param message what happened and what to try
     * @param cause shown by --stacktrace
     */
    public CommandFailure(String message, Throwable cause) { super(message, cause); }
}
