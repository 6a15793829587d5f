package io.ofi4j.errors;

import io.ofi4j.info.Version;
import java.util.Optional;

/**
 * libfabric cannot be loaded, or is older than {@code Libfabric.oldestVersion()}. The message names the searched places
 * and the package to install, or the version that was found and the one to install.
 */
public final class LibfabricNotFoundException extends FabricException {
    private static final long serialVersionUID = 1L;

    private final transient Version tooOld;

    /**
     * Describes what was looked for, and where.
     *
     * @param message what was not found, and what to install
     * @param tooOld the version of the library that was found, or null if none could be loaded
     * @param cause why it could not be loaded, or null
     */
    public LibfabricNotFoundException(String message, Version tooOld, Throwable cause) {
        super(message, "dlopen", 0);
        initCause(cause);
        this.tooOld = tooOld;
    }

    /** {@return the version of the library that was found and is too old; empty where none could be loaded} */
    public Optional<Version> tooOld() {
        return Optional.ofNullable(tooOld);
    }
}
