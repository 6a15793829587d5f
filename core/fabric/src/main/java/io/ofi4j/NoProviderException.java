package io.ofi4j;

import io.ofi4j.internal.os.Errno;

/** No provider of this machine matches the hints. The message names what is available instead. */
public final class NoProviderException extends FabricException {
    private static final long serialVersionUID = 1L;

    NoProviderException(String message) { super(message, "fi_getinfo", Errno.ENODATA); }
}
