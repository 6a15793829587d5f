package io.ofi4j.command;

import io.ofi4j.Libfabric;
import java.util.stream.Stream;

/** Whether the JVM lets ofi4j and its command call native code. */
public final class NativeAccess {
    /** The option that a JVM wants. */
    public static final String OPTION = "--enable-native-access=" + (Libfabric.class.getModule().isNamed()
            ? "io.ofi4j,io.ofi4j.bindings,io.ofi4j.bindings.verbs,io.ofi4j.command"
            : "ALL-UNNAMED");

    /** Looked at early: with the first native call, a JVM that only warns enables it. */
    private static final boolean FROM_THE_BEGINNING = isEnabled(Libfabric.class.getModule());

    private NativeAccess() {}

    /** Each of the four modules has native calls of its own. */
    private static boolean isEnabled(Module core) {
        return NativeAccess.class.getModule().isNativeAccessEnabled() && core.isNativeAccessEnabled()
                && (core.getLayer() == null || Stream.of("io.ofi4j.bindings", "io.ofi4j.bindings.verbs")
                        .allMatch(name -> core.getLayer().findModule(name).orElseThrow().isNativeAccessEnabled()));
    }

    /** {@return whether it was enabled when the command began} */
    public static boolean isEnabled() {
        return FROM_THE_BEGINNING;
    }
}
