package io.ofi4j;

import io.ofi4j.errors.FabricException;

/**
 * An object with a wait descriptor, on which a thread or an application's event loop can block. Every method throws
 * IllegalStateException if this object was opened without one, or is closed.
 */
public interface Waitable {
    /**
     * {@return a file descriptor that becomes readable when there may be something to read, for poll(2), epoll(7) and
     * the like} Wait on it only after {@link #tryWait} has returned true, each time. Do not read or close it; this
     * object owns it.
     */
    int waitDescriptor();

    /**
     * {@return whether a thread may block on the wait descriptor now; fi_trywait, fi_poll(3)} If not, read this object
     * first. It also makes progress.
     *
     * @throws WrongThreadException if the threading model gives this object to another thread
     * @throws FabricException if libfabric reports an error
     */
    boolean tryWait();
}
