package io.ofi4j;

/**
 * An object with a wait descriptor, on which a thread or an application's event loop can block. Every method throws
 * IllegalStateException if this object was opened without one, or is closed.
 */
public interface Waitable {
    /**
     * {@return a file descriptor that becomes readable when something may be there to read, for poll(2), epoll(7) and the like} It
     * is valid only after a {@link #tryWait} that returned true, each time. Do not read or close it; it is closed with this object.
     */
    int waitDescriptor();

    /**
     * {@return whether a thread may block on the wait descriptor now; if not, read this object first} fi_trywait, fi_poll(3). It
     * also makes progress.
     *
     * @throws WrongThreadException if the threading model gives this object to another thread
     * @throws FabricException if libfabric reports an error
     */
    boolean tryWait();
}
