package io.ofi4j.errors;

import io.ofi4j.internal.os.Errno;

/** No provider of this machine matches the hints. The message names what is available instead. */
public final class NoProviderException extends FabricException {
    private static final long serialVersionUID = 1L;

    /**
     * Describes what was asked for.
     *
     * @param message what does not match, and what is available instead
     */
    public NoProviderException(String message) { super(message, "fi_getinfo", Errno.ENODATA); }
}
