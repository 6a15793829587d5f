package io.ofi4j.info;

/**
 * What a provider writes into an entry of a completion queue; {@code enum fi_cq_format}, fi_cq(3). Each format includes
 * those before it. A handler gets 0 for a field that its format lacks.
 */
public enum CompletionFormat {
    /** The operation alone. A successful completion has no flags, which would say what kind of operation it was. */
    CONTEXT(1),
    /** Flags and length in addition. */
    MESSAGE(2),
    /** Buffer address and completion data in addition; the default. */
    DATA(3),
    /** The tag in addition. */
    TAGGED(4);

    private final int value;

    CompletionFormat(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }
}
