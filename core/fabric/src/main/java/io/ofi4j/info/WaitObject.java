package io.ofi4j.info;

/**
 * The object on which a thread blocks until a queue or a counter has something new; {@code enum fi_wait_obj}, fi_eq(3).
 */
public enum WaitObject {
    /** Nothing: there is no blocking call, and the queue must be polled. */
    NONE(0),
    /** The provider's preference, for its blocking call only. */
    UNSPECIFIED(1),
    /** A wait set of libfabric; not offered by ofi4j. */
    SET(2),
    /** A file descriptor, for the provider's blocking call and for the application's own epoll or poll. */
    FD(3),
    /** A C mutex and condition variable; not offered by ofi4j. */
    MUTEX_COND(4),
    /** Nothing to block on: the provider's blocking call yields the processor between polls. */
    YIELD(5),
    /** Several file descriptors that may change; not offered by ofi4j. */
    POLLFD(6);

    private final int value;

    WaitObject(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /**
     * {@return this wait object, if ofi4j offers it}
     *
     * @throws UnsupportedOperationException if it does not
     */
    WaitObject requireOffered() {
        if (!isOffered()) {
            throw new UnsupportedOperationException(
                    "wait object " + this + " is not offered by ofi4j: use NONE, UNSPECIFIED, FD or YIELD");
        }
        return this;
    }

    /** {@return whether ofi4j can open queues with it, if the provider has it} */
    public boolean isOffered() {
        return this != SET && this != MUTEX_COND && this != POLLFD;
    }
}
