package io.ofi4j.examples;

import io.ofi4j.Libfabric;

/** Whether the JVM lets ofi4j call native code. */
public final class NativeAccess {
    /** The option that a JVM wants. */
    public static final String OPTION = "--enable-native-access="
            + (Libfabric.class.getModule().isNamed() ? "io.ofi4j,io.ofi4j.bindings" : "ALL-UNNAMED");

    /** Looked at early: with the first native call, a JVM that only warns enables it. */
    private static final boolean FROM_THE_BEGINNING = isEnabled(Libfabric.class.getModule());

    private NativeAccess() {
    }

    /** The bindings have native calls of their own. */
    private static boolean isEnabled(Module core) {
        return core.isNativeAccessEnabled() && (core.getLayer() == null
                || core.getLayer().findModule("io.ofi4j.bindings").orElseThrow().isNativeAccessEnabled());
    }

    /** {@return whether it was enabled when the command began} */
    public static boolean isEnabled() {
        return FROM_THE_BEGINNING;
    }
}
