package io.ofi4j.verbs;

/** Flags of operations, to be joined with {@code |}; {@code enum ibv_send_flags}, ibv_post_send(3). */
public final class WorkFlags {
    /** Earlier reads and atomic operations of this queue pair have completed before it begins. */
    public static final int FENCED = 1;
    /** Its success is reported. Without, only failures are; the operation leaves with the next one that is reported. */
    public static final int SIGNALED = 1 << 1;
    /** The peer's completion wakes who waits for solicited ones: sends, and writes with an immediate. */
    public static final int SOLICITED = 1 << 2;
    /** The bytes are copied while it is posted; their memory can be reused at once. Sends and writes. */
    public static final int INLINE = 1 << 3;

    static final int ALL = FENCED | SIGNALED | SOLICITED | INLINE;

    private WorkFlags() {}
}
