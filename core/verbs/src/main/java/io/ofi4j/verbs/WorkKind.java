package io.ofi4j.verbs;

/** The kind of an operation; the opcodes of ibv_poll_cq(3). */
public enum WorkKind {
    /** A send, also one with an immediate or an invalidation. */
    SEND,
    /** A write, also one with an immediate. */
    WRITE,
    /** A read. */
    READ,
    /** A compare-and-swap. */
    COMPARE_SWAP,
    /** A fetch-and-add. */
    FETCH_ADD,
    /** The bind of a window. */
    BIND,
    /** The invalidation of a window. */
    INVALIDATE,
    /** A receive that a peer's send has used. */
    RECEIVE,
    /** A receive that a peer's write with an immediate has used. */
    RECEIVE_OF_WRITE;

    private static final WorkKind[] ALL = values();

    static WorkKind of(int ordinal) { return ALL[ordinal]; }
}
