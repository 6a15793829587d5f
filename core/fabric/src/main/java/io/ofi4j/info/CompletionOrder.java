package io.ofi4j.info;

import java.util.Set;

/** The order of completions; the FI_ORDER_* bits of fi_endpoint(3). */
public enum CompletionOrder {
    /** The order in which the operations were posted. */
    STRICT(0x1ff),
    /** The bytes of one operation arrive in order; libfabric 2.x no longer reports it. */
    DATA(1L << 16);

    private final long bits;

    CompletionOrder(long bits) { this.bits = bits; }

    /** {@return libfabric's bits for it} */
    public long bits() { return bits; }

    /** {@return the orders whose FI_ORDER_* bits are all set} */
    public static Set<CompletionOrder> setOf(long bits) {
        return Constants.subset(CompletionOrder.class, order -> (bits & order.bits) == order.bits);
    }
}
