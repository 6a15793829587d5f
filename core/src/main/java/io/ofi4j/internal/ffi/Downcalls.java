package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;

/** Method handles of the inline layer: the first argument is the address of the function, pointers are {@code long}s. */
@SuppressWarnings("restricted")
public final class Downcalls {
    private static final MethodHandle OF_ADDRESS = ofAddress();

    static {
        NativeLibrary.ensureLoaded();
    }

    private static MethodHandle ofAddress() {
        try {
            return MethodHandles.lookup().findStatic(MemorySegment.class, "ofAddress",
                    MethodType.methodType(MemorySegment.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A C function of that many pointers and integers that returns a {@code ssize_t}. */
    static FunctionDescriptor longs(int arguments) {
        return FunctionDescriptor.of(JAVA_LONG, Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /** For calls that may block, call back, or run long. */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return byAddress(Linker.nativeLinker().downcallHandle(descriptor));
    }

    /**
     * The segment that the linker wants of a function is made inside the handle. Where the compiler does not inline a handle, as in a
     * handler that posts, one that its caller makes would be allocated; a kept one costs the checks of its class, scope and liveness.
     */
    private static MethodHandle byAddress(MethodHandle call) {
        return MethodHandles.filterArguments(call, 0, OF_ADDRESS);
    }

    /**
     * For short calls that neither block nor call back. The thread stays in the Java state, which saves about 5 ns and delays
     * safepoints until the call returns.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return byAddress(Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false)));
    }
}
