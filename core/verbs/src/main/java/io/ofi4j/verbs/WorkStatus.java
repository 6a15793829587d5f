package io.ofi4j.verbs;

/** The result of an operation; {@code enum ibv_wc_status}, ibv_poll_cq(3), in the order of verbs.h. */
public enum WorkStatus {
    /** The operation has succeeded. */
    SUCCESS(""),
    /** A message is longer than the memory of its receive, or than the port's limit. */
    LOCAL_LENGTH("Is the receive's memory long enough?"),
    /** The queue pair could not carry out the operation. */
    LOCAL_OPERATION("Does the device offer the operation?"),
    /** Not for reliable connections. */
    LOCAL_END_TO_END(""),
    /** The local memory lacks the right, or was deregistered. */
    LOCAL_PROTECTION("Is the local region open?"),
    /**
     * An earlier operation failed, or the queue pair was closed. The operation may have been carried out: in particular
     * one without {@link WorkFlags#SIGNALED} whose end was not reported before.
     */
    FLUSHED("The first error of the queue pair says why."),
    /** A window could not be bound. */
    BIND("Does the region allow windows, and the rights?"),
    /** The peer's device sent a wrong answer. */
    BAD_RESPONSE(""),
    /** A write with an immediate could not use its receive. */
    LOCAL_ACCESS(""),
    /** The peer's device refused: no such operation, too long, or no room in its receive. */
    REMOTE_INVALID_REQUEST("Is the peer's receive long enough?"),
    /** The key is wrong or was invalidated, the range is outside the peer's memory, or the right was not given. */
    REMOTE_ACCESS("Was the key invalidated, or does it lack this right or range?"),
    /** The peer's device could not carry out the operation. */
    REMOTE_OPERATION(""),
    /** The peer's device does not answer. */
    RETRIES_EXCEEDED("Is the peer running, and the cable in place?"),
    /** The peer has posted no receive. */
    RECEIVER_NOT_READY("The peer must post receives first."),
    /** Not for reliable connections. */
    LOCAL_DOMAIN_VIOLATION(""),
    /** Not for reliable connections. */
    REMOTE_INVALID_READ(""),
    /** The peer has aborted the operation. */
    REMOTE_ABORTED(""),
    /** Not for reliable connections. */
    INVALID_END_TO_END_NUMBER(""),
    /** Not for reliable connections. */
    INVALID_END_TO_END_STATE(""),
    /** The device has failed. */
    FATAL("Open the device again."),
    /** There was no response in time. */
    RESPONSE_TIMEOUT("Is the peer running?"),
    /** Another error, or one that this release does not know. */
    GENERAL("");

    private static final WorkStatus[] ALL = values();

    private final String remedy;

    WorkStatus(String remedy) { this.remedy = remedy; }

    /** {@return a sentence that says what to check, or an empty string} */
    public String remedy() { return remedy; }

    static WorkStatus of(int value) { return value >= 0 && value < ALL.length ? ALL[value] : GENERAL; }
}
