package io.ofi4j.internal.os;

import io.ofi4j.bindings.libc.libc_h;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The calls of the C library that loading and discovery need, and handles for others. */
@SuppressWarnings("restricted")
public final class LibC {
    private LibC() {
    }

    /** A handle for one of its functions. */
    public static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor, options);
    }

    /** setenv(3): Java cannot change its own environment, and libfabric reads it once. */
    public static void setenv(String name, String value, boolean overwrite) {
        try (Arena arena = Arena.ofConfined()) {
            int rc = libc_h.setenv(arena.allocateFrom(name), arena.allocateFrom(value), overwrite ? 1 : 0);
            if (rc != 0) {
                throw new IllegalArgumentException("setenv refused the variable '" + name + "'");
            }
        }
    }

    /** getenv(3): what native code sees, which {@link System#getenv} does not after {@link #setenv}. */
    public static String getenv(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return string(libc_h.getenv(arena.allocateFrom(name)));
        }
    }

    /** strdup(3): a string that libfabric will free with free(3). */
    public static MemorySegment strdup(String text) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = libc_h.strdup(arena.allocateFrom(text));
            if (copy.address() == 0) {
                throw new OutOfMemoryError("strdup");
            }
            return copy;
        }
    }

    /** The C string at a pointer, or null where the pointer is. */
    public static String string(MemorySegment pointer) {
        return pointer.address() == 0 ? null : pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    /** What a handle throws that cannot throw: an error of the virtual machine goes on, anything else is a bug. */
    public static Error unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            return error;
        }
        return new AssertionError("a native call threw", thrown);
    }
}
