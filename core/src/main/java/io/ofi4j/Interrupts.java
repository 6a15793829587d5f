package io.ofi4j;

import io.ofi4j.internal.Errno;

/** What an interrupt does to whoever waits in this library: the same everywhere. */
final class Interrupts {
    private Interrupts() {
    }

    /** @throws FabricException with {@code EINTR} if the thread is interrupted; its status stays set */
    static void check(String operation) {
        if (Thread.currentThread().isInterrupted()) {
            throw new FabricException(operation + " was interrupted: thread '" + Thread.currentThread().getName()
                    + "' has its interrupt status set.", operation, Errno.EINTR);
        }
    }
}
