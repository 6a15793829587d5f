package io.ofi4j.info;

/** In which order completions come; the FI_ORDER_* bits of a completion order, fi_endpoint(3). */
public enum CompletionOrder {
    /** As the operations were posted. */
    STRICT(0x1ff),
    /** The bytes of one operation arrive in their order; libfabric 2.x no longer says. */
    DATA(1L << 16);

    private final long bits;

    CompletionOrder(long bits) {
        this.bits = bits;
    }

    /** {@return libfabric's bits for it} */
    public long bits() {
        return bits;
    }
}
