package io.ofi4j.command.control;

/** The control connection cannot be used any more; the message says why, without saying who the other side is. */
public final class ControlException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** The other side has gone. */
        GONE,
        /** It said nothing in time. */
        SILENT,
        /** It does not speak this protocol. */
        GARBAGE,
        /** It speaks another version of it. */
        VERSION,
        /** It refused. */
        REFUSED
    }

    private final Reason reason;

    /**
     * A failure.
     *
     * @param reason why
     * @param message goes on after the name of the other side, such as "closed the connection"
     */
    public ControlException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** {@return why} */
    public Reason reason() { return reason; }
}
