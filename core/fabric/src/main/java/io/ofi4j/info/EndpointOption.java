package io.ofi4j.info;

import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * An option of an endpoint, for {@link io.ofi4j.EndpointOptions}; the FI_OPT_* numbers of fi_endpoint(3). Providers
 * differ in the options they have. Sizes are in bytes.
 *
 * @param <T> the type of its value
 */
public final class EndpointOption<T> {
    /** The free room that a multi-receive buffer must have to stay in use, 1 byte or more. */
    public static final EndpointOption<Long> MINIMUM_MULTI_RECEIVE = size("MIN_MULTI_RECV", 0);
    /** The most data that a connection request takes; cannot be set. */
    public static final EndpointOption<Long> CONNECTION_DATA_SIZE = size("CM_DATA_SIZE", 1);
    /** The length of the first part of a buffered message. */
    public static final EndpointOption<Long> BUFFERED_MINIMUM = size("BUFFERED_MIN", 2);
    /** The largest message that is buffered. */
    public static final EndpointOption<Long> BUFFERED_LIMIT = size("BUFFERED_LIMIT", 3);
    /** The size of a connection's send buffer. */
    public static final EndpointOption<Long> SEND_BUFFER_SIZE = size("SEND_BUF_SIZE", 4);
    /** The size of a connection's receive buffer. */
    public static final EndpointOption<Long> RECEIVE_BUFFER_SIZE = size("RECV_BUF_SIZE", 5);
    /** The number of operations that the transmit context takes. */
    public static final EndpointOption<Long> TRANSMIT_SIZE = size("TX_SIZE", 6);
    /** The number of receives that the receive context takes. */
    public static final EndpointOption<Long> RECEIVE_SIZE = size("RX_SIZE", 7);
    /** Whether the adapter accesses device memory directly. */
    public static final EndpointOption<DevicePeerToPeer> DEVICE_PEER_TO_PEER = new EndpointOption<>("FI_HMEM_P2P", 8,
            Integer.BYTES, DevicePeerToPeer::ordinal, EndpointOption::peerToPeer);
    /** Whether the provider may call CUDA (libfabric 1.18 and newer). */
    public static final EndpointOption<Boolean> CUDA_API_PERMITTED = flag("CUDA_API_PERMITTED", 10);
    /** Whether the provider may use shared memory inside a node (libfabric 1.19 and newer); cannot be read. */
    public static final EndpointOption<Boolean> SHARED_MEMORY_PERMITTED = flag("SHARED_MEMORY_PERMITTED", 11);
    /** The largest message (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> MAXIMUM_MESSAGE_SIZE = size("MAX_MSG_SIZE", 12);
    /** The largest tagged message (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> MAXIMUM_TAGGED_SIZE = size("MAX_TAGGED_SIZE", 13);
    /** The largest read or write (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> MAXIMUM_RMA_SIZE = size("MAX_RMA_SIZE", 14);
    /** The largest atomic operation (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> MAXIMUM_ATOMIC_SIZE = size("MAX_ATOMIC_SIZE", 15);
    /** The largest message that can be injected (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> INJECT_MESSAGE_SIZE = size("INJECT_MSG_SIZE", 16);
    /** The largest tagged message that can be injected (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> INJECT_TAGGED_SIZE = size("INJECT_TAGGED_SIZE", 17);
    /** The largest write that can be injected (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> INJECT_RMA_SIZE = size("INJECT_RMA_SIZE", 18);
    /** The largest atomic operation that can be injected (libfabric 2.0 and newer). */
    public static final EndpointOption<Long> INJECT_ATOMIC_SIZE = size("INJECT_ATOMIC_SIZE", 19);

    private final String name;
    private final int number;
    private final int size;
    private final ToLongFunction<T> toNumber;
    private final Function<Long, T> ofNumber;

    private EndpointOption(String name, int number, int size, ToLongFunction<T> toNumber, Function<Long, T> ofNumber) {
        this.name = name;
        this.number = number;
        this.size = size;
        this.toNumber = toNumber;
        this.ofNumber = ofNumber;
    }

    private static EndpointOption<Long> size(String name, int number) {
        return new EndpointOption<>(name, number, Long.BYTES, EndpointOption::requireSize, value -> value);
    }

    private static EndpointOption<Boolean> flag(String name, int number) {
        return new EndpointOption<>(name, number, Byte.BYTES, value -> value ? 1 : 0, value -> value != 0);
    }

    private static long requireSize(long size) {
        if (size < 0) { throw new IllegalArgumentException("a size is 0 or more, not " + size); }
        return size;
    }

    private static DevicePeerToPeer peerToPeer(long value) {
        DevicePeerToPeer[] all = DevicePeerToPeer.values();
        return value >= 0 && value < all.length ? all[(int) value] : DevicePeerToPeer.ENABLED;
    }

    /**
     * {@return a provider's own option with a boolean value}
     *
     * @param name its name in the provider's man page, for messages
     * @param number libfabric's number for it, below 0
     */
    public static EndpointOption<Boolean> flagOfProvider(String name, int number) {
        return flag(name, requireOfProvider(number));
    }

    /** As {@link #flagOfProvider}, with a {@code size_t} value. */
    public static EndpointOption<Long> sizeOfProvider(String name, int number) {
        return size(name, requireOfProvider(number));
    }

    private static int requireOfProvider(int number) {
        if (number >= 0) {
            throw new IllegalArgumentException("the number of a provider's own option must be below 0, not " + number);
        }
        return number;
    }

    /** {@return libfabric's number for this option} */
    public int number() { return number; }

    /** {@return the size of its value in bytes} */
    public int size() { return size; }

    /**
     * {@return the number that stands for a value}
     *
     * @throws IllegalArgumentException if the value is a size below 0
     */
    public long toNumber(T value) { return toNumber.applyAsLong(value); }

    /** {@return the value that a number stands for} */
    public T ofNumber(long value) { return ofNumber.apply(value); }

    /** {@return libfabric's name for this option, without its prefix} */
    @Override
    public String toString() { return name; }
}
