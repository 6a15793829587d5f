package io.ofi4j.job.internal;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.function.Supplier;

/** Calls of the C library and of a launcher's library, and the exception if the JVM does not permit them. */
@SuppressWarnings("restricted")
final class NativeCalls {
    private static final String OPTION = "--enable-native-access="
            + (NativeCalls.class.getModule().isNamed() ? "io.ofi4j,io.ofi4j.bindings,io.ofi4j.job" : "ALL-UNNAMED");

    private NativeCalls() {}

    /** A native call whose result is an int or a long. */
    interface Call {
        long invoke() throws Throwable;
    }

    /** Runs code that makes native calls. If the JVM refuses them, the exception names the option. */
    static <T> T require(Supplier<T> first) {
        try {
            return first.get();
        } catch (IllegalCallerException e) {
            throw new IllegalCallerException("The JVM refuses native access: start java with " + OPTION + ".", e);
        }
    }

    /** A function of the C library. */
    static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor);
    }

    /** Invokes a handle that does not throw. */
    static long call(Call call) {
        try {
            return call.invoke();
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * {@return the error for an exception of a native call} Errors of the virtual machine are thrown on; anything else
     * is a bug.
     */
    static Error unexpected(Throwable thrown) {
        return thrown instanceof Error error ? error : new AssertionError("a native call threw", thrown);
    }

    /** The C string at a pointer, or null at NULL. */
    static String string(MemorySegment pointer) {
        return pointer.address() == 0 ? null : pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }
}
