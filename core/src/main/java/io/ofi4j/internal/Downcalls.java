package io.ofi4j.internal;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Makes the handles of the inline layer: the function's address comes first, pointers are plain {@code long}s. */
@SuppressWarnings("restricted")
final class Downcalls {
    static {
        NativeLibrary.ensureLoaded();
    }

    private Downcalls() {
    }

    /** A handle for a call that may block, call back, or run long. */
    static MethodHandle plain(FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(descriptor);
    }

    /**
     * A handle for a short call that neither blocks nor calls back. The thread does not leave the Java state, which
     * saves about 5 ns and makes a safepoint wait until the call is over.
     */
    static MethodHandle critical(FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /** What a handle throws that cannot throw: an error of the virtual machine goes on, anything else is a bug. */
    static Error unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            return error;
        }
        return new AssertionError("a native call threw", thrown);
    }

    /** A pointer that libfabric gave, made readable for a struct of that size. */
    static MemorySegment struct(MemorySegment pointer, long size) {
        return pointer.reinterpret(size);
    }
}
