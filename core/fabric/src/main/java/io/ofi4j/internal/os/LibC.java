package io.ofi4j.internal.os;

import io.ofi4j.bindings.libc.libc_h;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The calls of the C library that loading and discovery need, and method handles for others. */
@SuppressWarnings("restricted")
public final class LibC {
    private static final MethodHandle GETENV = handle("getenv",
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    private static final MethodHandle STRERROR = handle("strerror",
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final MethodHandle FREE = handle("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    private static final MethodHandle GETEUID = handle("geteuid");
    private static final int RTLD_NOW = 2;

    /** A function that returns an int. */
    static MethodHandle handle(String name, MemoryLayout... arguments) {
        return handle(name, FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }

    public static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(function(name), descriptor, options);
    }

    /** A function of the C library. */
    public static MemorySegment function(String name) {
        return Linker.nativeLinker().defaultLookup().find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library of this machine has no function " + name
                        + ": ofi4j needs glibc 2.28 or newer, or musl 1.2.5 or newer"));
    }

    /** setenv(3): Java cannot change its own environment, and libfabric reads it once. */
    public static void setenv(String name, String value, boolean overwrite) {
        try (Arena arena = Arena.ofConfined()) {
            if (libc_h.setenv(arena.allocateFrom(name), arena.allocateFrom(value), overwrite ? 1 : 0) != 0) {
                throw new IllegalArgumentException("setenv refused the variable '" + name + "'");
            }
        }
    }

    /** getenv(3), which also knows what {@link #setenv} has set; null if it is not set. */
    public static String getenv(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            return string(MemorySegment.ofAddress(call(() -> (long) GETENV.invokeExact(text))));
        }
    }

    /** strdup(3): a string that libfabric frees with free(3); NULL for null. */
    public static MemorySegment strdup(String text) {
        if (text == null) { return MemorySegment.NULL; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = libc_h.strdup(arena.allocateFrom(text));
            if (copy.address() == 0) { throw new OutOfMemoryError("strdup"); }
            return copy;
        }
    }

    /** free(3); nothing at NULL. */
    public static void free(MemorySegment pointer) {
        call(() -> {
            FREE.invokeExact(pointer);
            return 0;
        });
    }

    /** strerror(3): the text for an error number. */
    public static String strerror(int errno) {
        try {
            return string((MemorySegment) STRERROR.invokeExact(errno));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Why dlopen(3) refuses a library, in the words of dlerror(3); empty if it takes it. */
    public static String linkerRefusal(String library) {
        MethodHandle open = handle("dlopen",
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        MethodHandle error = handle("dlerror", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(library);
            if (call(() -> (long) open.invokeExact(name, RTLD_NOW)) != 0) { return ""; }
            String reason = string(MemorySegment.ofAddress(call(() -> (long) error.invokeExact())));
            return reason == null ? "the dynamic linker gives no reason" : reason;
        }
    }

    /** geteuid(2): the number of the user whose rights this process has. */
    public static int effectiveUser() {
        return (int) call(() -> (int) GETEUID.invokeExact());
    }

    /** The C string at a pointer, or null at NULL. */
    public static String string(MemorySegment pointer) {
        return pointer.address() == 0 ? null : pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    /** The bytes at a pointer. */
    public static MemorySegment bytes(MemorySegment pointer, long length) {
        return pointer.reinterpret(length);
    }

    /** A native call whose result is an int or a long. */
    public interface Call {
        long invoke() throws Throwable;
    }

    /** Invokes a handle that does not throw. */
    public static long call(Call call) {
        try {
            return call.invoke();
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** For what a native call threw: errors of the virtual machine pass, anything else is a bug. */
    public static Error unexpected(Throwable thrown) {
        return thrown instanceof Error error ? error : new AssertionError("a native call threw", thrown);
    }
}
