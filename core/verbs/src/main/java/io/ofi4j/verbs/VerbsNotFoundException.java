package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;

/** libibverbs or librdmacm cannot be loaded. The message names the packages to install. */
public final class VerbsNotFoundException extends FabricException {
    private static final long serialVersionUID = 1L;

    VerbsNotFoundException(String message, Throwable cause) {
        super(message, "dlopen", 0);
        initCause(cause);
    }
}
