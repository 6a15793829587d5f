package io.ofi4j.info;

/** A hooking provider, which libfabric puts between the program and a provider; fi_hook(7). */
public enum Hook {
    /** Counts processor events of the calls on the data path, and logs them when the fabric is closed. */
    PERF,
    /** Logs every call (libfabric 2.0 and newer). */
    TRACE,
    /**
     * Checks and logs operations. It refuses endpoints of {@link ThreadingModel#SAFE}, and therefore providers that
     * have no other.
     */
    DEBUG,
    /** Keeps figures for tools to read; Debian's libfabric lacks it (libfabric 2.0 and newer). */
    PROFILE,
    /** Passes everything on. */
    NOOP,
    /** Copies memory of devices for providers without {@link Capability#HMEM}. */
    HMEM
}
