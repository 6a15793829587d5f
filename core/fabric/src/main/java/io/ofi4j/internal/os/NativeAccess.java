package io.ofi4j.internal.os;

import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reports a refusal of native access by the JVM at its first use. */
public final class NativeAccess {
    /** Whether the JVM has refused it once, which it then always does. */
    private static volatile boolean refused;

    private NativeAccess() {}

    /**
     * Runs what may initialize classes with native calls. If the JVM refuses native access, throws an
     * IllegalCallerException that names the option, with these further modules that need it.
     */
    public static <T> T require(Supplier<T> first, String... further) {
        try {
            return first.get();
        } catch (IllegalCallerException | LinkageError e) {
            // On a second try, a class that failed to initialize has the first exception as text, or not at all.
            if (refused || Stream.iterate(e, Objects::nonNull, Throwable::getCause)
                    .anyMatch(one -> one.toString().contains(IllegalCallerException.class.getName()))) {
                refused = true;
                throw new IllegalCallerException(
                        "The JVM refuses native access: start java with " + option(further) + ".", e);
            }
            throw e;
        }
    }

    private static String option(String... further) {
        Stream<String> modules = NativeAccess.class.getModule().isNamed()
                ? Stream.concat(Stream.of("io.ofi4j", "io.ofi4j.bindings"), Stream.of(further))
                : Stream.of("ALL-UNNAMED");
        return modules.collect(Collectors.joining(",", "--enable-native-access=", ""));
    }
}
