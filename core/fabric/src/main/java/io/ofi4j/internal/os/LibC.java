package io.ofi4j.internal.os;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/** The calls of the C library that loading and discovery need, and addresses of other functions. */
@SuppressWarnings("restricted")
public final class LibC {
    private static final MemorySegment FREE = function("free");
    private static final int RTLD_NOW = 2;

    /** A function of the C library. */
    public static MemorySegment function(String name) {
        return Linker.nativeLinker().defaultLookup().find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library of this machine has no function " + name
                        + ": ofi4j needs glibc 2.28 or newer, or musl 1.2.5 or newer"));
    }

    /** setenv(3): Java cannot change its own environment, and libfabric reads it once. */
    public static void setenv(String name, String value, boolean overwrite) {
        try (Arena arena = Arena.ofConfined()) {
            int status = Downcalls.callForInt(function("setenv"), arena.allocateFrom(name), arena.allocateFrom(value),
                    overwrite ? 1 : 0);
            if (status != 0) { throw new IllegalArgumentException("setenv refused the variable '" + name + "'"); }
        }
    }

    /** getenv(3), which also knows what {@link #setenv} has set; null if it is not set. */
    public static String getenv(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return string(Downcalls.callForLong(function("getenv"), arena.allocateFrom(name)));
        }
    }

    /** strdup(3): a string that libfabric frees with free(3); NULL for null. */
    public static MemorySegment strdup(String text) {
        if (text == null) { return MemorySegment.NULL; }
        try (Arena arena = Arena.ofConfined()) {
            long copy = Downcalls.callForLong(function("strdup"), arena.allocateFrom(text));
            if (copy == 0) { throw new OutOfMemoryError("strdup"); }
            return MemorySegment.ofAddress(copy);
        }
    }

    /** free(3); nothing at NULL. */
    public static void free(MemorySegment pointer) {
        Downcalls.call(false, FREE, pointer.address());
    }

    /** strerror(3): the text for an error number. */
    public static String strerror(int errno) {
        return string(Downcalls.callForLong(function("strerror"), errno));
    }

    /** Why dlopen(3) refuses a library, in the words of dlerror(3); empty if it takes it. */
    public static String linkerRefusal(String library) {
        MemorySegment open = function("dlopen");
        MemorySegment error = function("dlerror"); // looked up first: dlsym forgets an error
        try (Arena arena = Arena.ofConfined()) {
            if (Downcalls.callForLong(open, arena.allocateFrom(library), RTLD_NOW) != 0) { return ""; }
            String reason = string(Downcalls.callForLong(error));
            return reason == null ? "the dynamic linker gives no reason" : reason;
        }
    }

    /** geteuid(2): the number of the user whose rights this process has. */
    public static int effectiveUser() {
        return Downcalls.callForInt(function("geteuid"));
    }

    /** The C string at an address, or null at 0. */
    public static String string(long address) {
        return string(MemorySegment.ofAddress(address));
    }

    /** The C string at a pointer, or null at NULL. */
    public static String string(MemorySegment pointer) {
        return pointer.address() == 0 ? null : pointer.reinterpret(Long.MAX_VALUE).getString(0);
    }

    /** The bytes at a pointer. */
    public static MemorySegment bytes(MemorySegment pointer, long length) {
        return pointer.reinterpret(length);
    }

    /** For what a native call threw: errors of the virtual machine pass, anything else is a bug. */
    public static Error unexpected(Throwable thrown) {
        return thrown instanceof Error error ? error : new AssertionError("a native call threw", thrown);
    }
}
