package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * Whether the provider or the application protects queues against overrun; {@code enum fi_resource_mgmt}, fi_domain(3).
 */
public enum ResourceManagement {
    /** The provider's preference. */
    UNSPECIFIED(0),
    /**
     * The application must not overrun a queue. ofi4j sees to that: it limits the operations in flight to the size of
     * their queue.
     */
    DISABLED(1),
    /** The provider protects its queues. */
    ENABLED(2),
    /** A kind that this release does not know. */
    OTHER(-1);

    private final int value;

    ResourceManagement(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the kind with this number, or {@link #OTHER}} */
    public static ResourceManagement of(int value) {
        return Stream.of(values()).filter(one -> one.value == value).findFirst().orElse(OTHER);
    }
}
