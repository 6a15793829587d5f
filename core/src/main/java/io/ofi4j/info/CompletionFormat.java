package io.ofi4j.info;

/**
 * What a provider writes into an entry of a completion queue; {@code enum fi_cq_format}, fi_cq(3). Each has what those before it
 * have. What a format lacks is 0 to the handler.
 */
public enum CompletionFormat {
    /** Which operation; no flags, so that errors aside nothing tells what completed. */
    CONTEXT(1),
    /** Also flags and length. */
    MESSAGE(2),
    /** Also buffer address and completion data; the default. */
    DATA(3),
    /** Also the tag. */
    TAGGED(4);

    private final int value;

    CompletionFormat(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }
}
