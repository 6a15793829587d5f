package io.ofi4j.info;

/** Whether the provider guards queues against overrun; {@code enum fi_resource_mgmt}, fi_domain(3). */
public enum ResourceManagement {
    /** Whatever the provider prefers. */
    UNSPECIFIED(0),
    /** The application sees to it that no queue is overrun. This library bounds what it posts by its queue's size. */
    DISABLED(1),
    /** The provider does. */
    ENABLED(2);

    private final int value;

    ResourceManagement(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }
}
