package io.ofi4j.examples;

import io.ofi4j.Libfabric;

/** Whether the JVM lets ofi4j call native code. */
public final class NativeAccess {
    /** The option that a JVM wants. */
    public static final String OPTION = "--enable-native-access="
            + (Libfabric.class.getModule().isNamed() ? "io.ofi4j,io.ofi4j.bindings" : "ALL-UNNAMED");

    /** Looked at early: with the first native call, a JVM that only warns enables it. */
    private static final boolean FROM_THE_BEGINNING = Libfabric.class.getModule().isNativeAccessEnabled();

    private NativeAccess() {
    }

    /** {@return whether it was enabled when the command began} */
    public static boolean isEnabled() {
        return FROM_THE_BEGINNING;
    }

    /**
     * Throws on what has another cause than that native access is refused.
     *
     * @param failure of a class that calls native code, the first time or later
     */
    public static void requireRefused(Throwable failure) {
        if (isEnabled()) {
            throw new IllegalStateException("native code cannot be called: " + failure, failure);
        }
    }
}
