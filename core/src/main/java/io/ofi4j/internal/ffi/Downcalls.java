package io.ofi4j.internal.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Makes the handles of the inline layer: the function's address comes first, pointers are plain {@code long}s. */
@SuppressWarnings("restricted")
public final class Downcalls {
    static {
        NativeLibrary.ensureLoaded();
    }

    private Downcalls() {
    }

    /** A handle for a call that may block, call back, or run long. */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(descriptor);
    }

    /**
     * A handle for a short call that neither blocks nor calls back. The thread does not leave the Java state, which
     * saves about 5 ns and makes a safepoint wait until the call is over.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /** A pointer that libfabric gave, made readable for a struct of that size. */
    public static MemorySegment struct(MemorySegment pointer, long size) {
        return pointer.reinterpret(size);
    }
}
