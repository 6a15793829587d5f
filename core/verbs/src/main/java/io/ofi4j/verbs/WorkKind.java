package io.ofi4j.verbs;

/** What an operation was; the opcodes of ibv_poll_cq(3). */
public enum WorkKind {
    /** A send, with an immediate or an invalidation or not. */
    SEND,
    /** A write, with an immediate or not. */
    WRITE,
    /** A read. */
    READ,
    /** A compare-and-swap. */
    COMPARE_SWAP,
    /** A fetch-and-add. */
    FETCH_ADD,
    /** The bind of a window. */
    BIND,
    /** A window was taken back. */
    INVALIDATE,
    /** A receive, which a peer's send has used. */
    RECEIVE,
    /** A receive, which a peer's write with an immediate has used. */
    RECEIVE_OF_WRITE;

    private static final WorkKind[] ALL = values();

    static WorkKind of(int ordinal) { return ALL[ordinal]; }
}
