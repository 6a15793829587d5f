package io.ofi4j.verbs;

/** Flags of operations, to be combined with {@code |}; {@code enum ibv_send_flags}, ibv_post_send(3). */
public final class WorkFlags {
    /** The operation starts after earlier reads and atomic operations of this queue pair have completed. */
    public static final int FENCED = 1;
    /**
     * Success is reported. Without this flag only failures are, and the operation ends with the next one that is
     * reported.
     */
    public static final int SIGNALED = 1 << 1;
    /** The peer's completion gives an event even if only solicited ones do. For sends, and writes with an immediate. */
    public static final int SOLICITED = 1 << 2;
    /** The bytes are copied during the post, and their memory can be reused at once. For sends and writes. */
    public static final int INLINE = 1 << 3;

    static final int ALL = FENCED | SIGNALED | SOLICITED | INLINE;

    private WorkFlags() {}
}
