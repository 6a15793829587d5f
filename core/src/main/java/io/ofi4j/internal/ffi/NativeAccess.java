package io.ofi4j.internal.ffi;

import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Whether the JVM lets this library call native code, where that turns out. */
public final class NativeAccess {
    private static final String OPTION = "--enable-native-access="
            + (NativeAccess.class.getModule().isNamed() ? "io.ofi4j,io.ofi4j.bindings" : "ALL-UNNAMED");

    private NativeAccess() {
    }

    /**
     * Has classes with native calls do something, perhaps for the first time.
     *
     * @throws IllegalCallerException if the JVM refuses native access; the message names the option
     */
    public static <T> T require(Supplier<T> first) {
        try {
            return first.get();
        } catch (IllegalCallerException | LinkageError e) {
            if (isRefusal(e)) {
                throw new IllegalCallerException("The JVM refuses native access: start java with " + OPTION + ".", e);
            }
            throw e;
        }
    }

    /** From the second time on, a class that could not be initialized has the first time's exception only as a text. */
    private static boolean isRefusal(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .anyMatch(one -> one.toString().contains(IllegalCallerException.class.getName()));
    }
}
