package io.ofi4j.verbs.internal;

import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.NativeAccess;
import io.ofi4j.internal.os.SignalGuard;
import java.lang.foreign.SymbolLookup;
import java.util.List;

/**
 * Loads libibverbs and librdmacm once, in the global arena. No class of their generated bindings may be touched before.
 */
public final class VerbsLibrary {
    private static final List<String> SONAMES = List.of("libibverbs.so.1", "librdmacm.so.1");

    private static boolean loaded;

    private VerbsLibrary() {}

    /** A library cannot be loaded; the message says what to install. */
    public static final class NotFound extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotFound(String message, Throwable cause) { super(message, cause); }
    }

    /**
     * Also initializes these classes, and those of this package. Throws {@link NotFound}, or an IllegalCallerException
     * if the JVM refuses native access.
     */
    public static synchronized void ensureLoaded(List<Class<?>> used) {
        if (loaded) { return; }
        NativeAccess.require(() -> load(used), "io.ofi4j.bindings.verbs");
        loaded = true;
    }

    private static List<SymbolLookup> load(List<Class<?>> used) {
        List<SymbolLookup> libraries = SignalGuard.call(() -> SONAMES.stream().map(VerbsLibrary::open).toList());
        Initialization.run(used);
        return libraries;
    }

    private static SymbolLookup open(String soname) {
        try {
            return Functions.library(soname);
        } catch (IllegalArgumentException e) {
            throw new NotFound(soname + " was not found in the dynamic linker's search path. Install rdma-core "
                    + "('apt-get install librdmacm1 ibverbs-providers' on Debian and Ubuntu, 'dnf install librdmacm"
                    + " libibverbs' on Fedora and related systems).", e);
        }
    }
}
