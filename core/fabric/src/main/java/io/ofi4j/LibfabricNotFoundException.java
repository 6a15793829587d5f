package io.ofi4j;

/** libfabric cannot be loaded. The message names the searched places and the package to install. */
public final class LibfabricNotFoundException extends FabricException {
    private static final long serialVersionUID = 1L;

    LibfabricNotFoundException(String message, Throwable cause) {
        super(message, "dlopen", 0);
        initCause(cause);
    }
}
