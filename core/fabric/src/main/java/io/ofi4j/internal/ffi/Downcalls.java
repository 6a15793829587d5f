package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Functions;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.util.Collections;

/** Method handles of the inline layer: the first argument is the address of the function, pointers are {@code long}s. */
@SuppressWarnings("restricted")
public final class Downcalls {
    static {
        NativeLibrary.ensureLoaded();
    }

    /** A C function of that many pointers and integers that returns a {@code ssize_t}. */
    static FunctionDescriptor longs(int arguments) {
        return FunctionDescriptor.of(JAVA_LONG, Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new));
    }

    /** For calls that may block, call back, or run long. */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return Functions.byAddress(descriptor);
    }

    /**
     * For short calls that neither block nor call back. The thread stays in the Java state, which saves about 5 ns and delays
     * safepoints until the call returns.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return Functions.byAddress(descriptor, Linker.Option.critical(false));
    }
}
