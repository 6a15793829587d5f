package io.ofi4j;

/** What has a wait descriptor: a thread, or an application's own loop, can block until something is there. */
public interface Waitable {
    /**
     * {@return a file descriptor that becomes readable when something may be there, for poll(2), epoll(7) and their kin} It
     * counts only after {@link #tryWait} said so, each time anew. It must not be read or closed, and is gone with this object.
     *
     * @throws IllegalStateException if this object was opened without one, or is closed
     */
    int waitDescriptor();

    /**
     * {@return whether a thread may block on the wait descriptor now; where not, something is there to be read first}
     * fi_trywait, fi_poll(3). It also makes progress.
     *
     * @throws IllegalStateException if this object was opened without a wait descriptor, or is closed
     * @throws WrongThreadException if the threading model gives this object to another thread
     * @throws FabricException if libfabric reports an error
     */
    boolean tryWait();
}
