package io.ofi4j.internal.os;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Libraries, and method handles of their functions. */
@SuppressWarnings("restricted")
public final class Functions {
    private static final MethodHandle OF_ADDRESS = ofAddress();

    private static MethodHandle ofAddress() {
        try {
            return MethodHandles.lookup().findStatic(MemorySegment.class, "ofAddress",
                    MethodType.methodType(MemorySegment.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The functions of a library, which is loaded for good; throws an IllegalArgumentException if it is not found. */
    public static SymbolLookup library(String soname) {
        return SymbolLookup.libraryLookup(soname, Arena.global());
    }

    /** A handle of a function. */
    public static MethodHandle handle(MemorySegment function, FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(function, descriptor, options);
    }

    /**
     * A handle of functions that are known at run time: the first argument is the function, whose segment the data path
     * keeps in a field. A segment that is made for a call is allocated wherever the compiler does not inline the
     * handle, or compiles what is inside it without a profile, which differs from JVM to JVM.
     */
    public static MethodHandle handle(FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(descriptor, options);
    }

    /** As {@link #handle(FunctionDescriptor, Linker.Option...)}, of the function's address; off the data path. */
    public static MethodHandle byAddress(FunctionDescriptor descriptor, Linker.Option... options) {
        return MethodHandles.filterArguments(handle(descriptor, options), 0, OF_ADDRESS);
    }
}
