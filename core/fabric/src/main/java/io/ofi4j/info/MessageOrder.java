package io.ofi4j.info;

import java.util.Set;

/**
 * Which operations to one peer take effect in the order of posting; the FI_ORDER_* bits of fi_endpoint(3). {@code RAW},
 * for example, is a read after a write. {@link EndpointAttributes} has the sizes up to which an order holds.
 */
public enum MessageOrder {
    /** A read after a read, one-sided or atomic. */
    RAR(0),
    /** A read after a write. */
    RAW(1),
    /** A read after a send. */
    RAS(2),
    /** A write after a read. */
    WAR(3),
    /** A write after a write. */
    WAW(4),
    /** A write after a send. */
    WAS(5),
    /** A send after a read. */
    SAR(6),
    /** A send after a write. */
    SAW(7),
    /** A send after a send. */
    SAS(8),
    /** A one-sided read after a one-sided read. */
    RMA_RAR(32),
    /** A one-sided read after a one-sided write. */
    RMA_RAW(33),
    /** A one-sided write after a one-sided read. */
    RMA_WAR(34),
    /** A one-sided write after a one-sided write. */
    RMA_WAW(35),
    /** An atomic read after an atomic read. */
    ATOMIC_RAR(36),
    /** An atomic read after an atomic write. */
    ATOMIC_RAW(37),
    /** An atomic write after an atomic read. */
    ATOMIC_WAR(38),
    /** An atomic write after an atomic write. */
    ATOMIC_WAW(39);

    private final long bit;

    MessageOrder(int shift) { this.bit = 1L << shift; }

    /** {@return libfabric's bit for it} */
    public long bit() { return bit; }

    /** {@return the orders whose FI_ORDER_* bits are set} */
    public static Set<MessageOrder> setOf(long bits) {
        return Constants.subset(MessageOrder.class, order -> (bits & order.bit) != 0);
    }
}
