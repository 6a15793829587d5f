package io.ofi4j.info;

/**
 * What a provider writes into an entry of a completion queue; {@code enum fi_cq_format}, fi_cq(3). Each format includes those
 * before it. A handler gets 0 for a field that its format lacks.
 */
public enum CompletionFormat {
    /** The operation alone. Without flags, a successful completion does not say what kind of operation it was. */
    CONTEXT(1),
    /** Also flags and length. */
    MESSAGE(2),
    /** Also buffer address and completion data; the default. */
    DATA(3),
    /** Also the tag. */
    TAGGED(4);

    private final int value;

    CompletionFormat(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }
}
