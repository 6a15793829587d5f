package io.ofi4j.info;

/** What a thread can block on until a queue or counter has something; {@code enum fi_wait_obj}, fi_eq(3). */
public enum WaitObject {
    /** Nothing: there is no blocking call, the queue is asked again and again. */
    NONE(0),
    /** Whatever the provider prefers, for its blocking call only. */
    UNSPECIFIED(1),
    /** A wait set of libfabric's; not offered by this library. */
    SET(2),
    /** A file descriptor, for the provider's blocking call and for an application's own epoll or poll. */
    FD(3),
    /** A mutex and a condition variable of C; not offered by this library. */
    MUTEX_COND(4),
    /** Nothing to block on: the provider's blocking call lets other threads run between two looks. */
    YIELD(5),
    /** Several file descriptors that may change; not offered by this library. */
    POLLFD(6);

    private final int value;

    WaitObject(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }

    /**
     * {@return this wait object, which this library offers}
     *
     * @throws UnsupportedOperationException if it does not
     */
    WaitObject requireOffered() {
        if (this == SET || this == MUTEX_COND || this == POLLFD) {
            throw new UnsupportedOperationException(
                    "wait object " + this + " is not offered by this library: ask for NONE, UNSPECIFIED, FD or YIELD");
        }
        return this;
    }
}
