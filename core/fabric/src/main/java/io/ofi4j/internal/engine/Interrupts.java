package io.ofi4j.internal.engine;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Errno;

/** Ends waits of interrupted threads. */
public final class Interrupts {
    /** Throws a FabricException with {@code EINTR} if the thread is interrupted; its status stays set. */
    public static void check(String operation) {
        if (Thread.currentThread().isInterrupted()) {
            throw new FabricException(operation + " was interrupted: thread '" + Thread.currentThread().getName()
                    + "' has its interrupt status set.", operation, Errno.EINTR);
        }
    }
}
