package io.ofi4j.job.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The eight functions of PMIx that a job needs, from libpmix.so.2, which is loaded with this class. Their structs are
 * written by hand, so that no build needs PMIx's headers; they are the same in PMIx 3.2, 4.2, 5.0 and 6.1.
 *
 * <p>{@code pmix_proc_t}: the name space in 256 bytes, the rank in 4. {@code pmix_value_t}, 32 bytes: the type in 2,
 * and the data from offset 8. {@code pmix_info_t}, 552 bytes: the key in 512, flags in 4, and a value from offset 520.
 */
@SuppressWarnings("restricted")
final class Pmix {
    private static final String FILE = System.getProperty("io.ofi4j.pmix", "libpmix.so.2");

    private static final long NAMESPACE = 256;
    private static final long PROC = 260;
    private static final long VALUE = 32;
    private static final long DATA = 8;
    private static final long INFO = 552;
    private static final long INFO_VALUE = 520;

    private static final short TYPE_BOOL = 1;
    private static final short TYPE_STRING = 3;
    private static final short TYPE_INT = 6;
    private static final short TYPE_UINT32 = 14;
    private static final byte GLOBAL = 3;
    private static final int ALL_RANKS = -2;
    private static final int ERROR_TIMEOUT = -24;

    private final SymbolLookup library;
    private final MethodHandle errorString;
    private final Arena arena = Arena.global(); // PMIx may keep pointers
    private final MemorySegment self = arena.allocate(PROC, Integer.BYTES);

    /** Loads the library, and announces this process; PMIx_Init. */
    Pmix() {
        try {
            library = FILE.contains("/")
                    ? SymbolLookup.libraryLookup(java.nio.file.Path.of(FILE), arena)
                    : SymbolLookup.libraryLookup(FILE, arena);
        } catch (IllegalArgumentException e) {
            throw new LauncherException("PMIX_NAMESPACE says that PMIx started this process, and " + FILE
                    + " cannot be loaded: install it ('apt-get install libpmix2' on Debian and Ubuntu), or name its"
                    + " file with -Dio.ofi4j.pmix=/path/to/libpmix.so.2.", e);
        }
        errorString = handle("PMIx_Error_string", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        MethodHandle init = handle("PMIx_Init", ints(ADDRESS, ADDRESS, JAVA_LONG));
        check("PMIx_Init", NativeCalls.call(() -> (int) init.invokeExact(self, MemorySegment.NULL, 0L)));
    }

    private MethodHandle handle(String name, FunctionDescriptor descriptor) {
        MemorySegment function = library.find(name)
                .orElseThrow(() -> new LauncherException(FILE + " is not a PMIx library: it has no function " + name));
        return Linker.nativeLinker().downcallHandle(function, descriptor);
    }

    private static FunctionDescriptor ints(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }

    private void check(String call, long status) {
        if (status == 0) { return; }
        String text;
        try {
            text = NativeCalls.string((MemorySegment) errorString.invokeExact((int) status));
        } catch (Throwable t) {
            throw NativeCalls.unexpected(t);
        }
        throw new LauncherException(call + " failed: " + text + " (" + status + ")"
                + (status == ERROR_TIMEOUT ? ". Did every rank start?" : ""));
    }

    int rank() { return self.get(JAVA_INT, NAMESPACE); }

    int jobSize() {
        MemorySegment value = get(ALL_RANKS, "pmix.job.size");
        short type = value.get(JAVA_SHORT, 0);
        if (type != TYPE_UINT32 && type != TYPE_INT) {
            throw new LauncherException("pmix.job.size has type " + type + ", not the type of a number");
        }
        return value.get(JAVA_INT, DATA);
    }

    /** PMIx_Put and PMIx_Commit. */
    void put(String key, String text) {
        MemorySegment value = arena.allocate(VALUE, Long.BYTES);
        value.set(JAVA_SHORT, 0, TYPE_STRING);
        value.set(ADDRESS, DATA, arena.allocateFrom(text));
        MemorySegment name = arena.allocateFrom(key);
        MethodHandle put = handle("PMIx_Put", ints(JAVA_BYTE, ADDRESS, ADDRESS));
        check("PMIx_Put", NativeCalls.call(() -> (int) put.invokeExact(GLOBAL, name, value)));
        MethodHandle commit = handle("PMIx_Commit", ints());
        check("PMIx_Commit", NativeCalls.call(() -> (int) commit.invokeExact()));
    }

    /** Waits for all ranks, and collects the values that they have put; PMIx_Fence. */
    void fence() {
        MemorySegment info = arena.allocate(INFO, Long.BYTES);
        info.setString(0, "pmix.collect");
        info.set(JAVA_SHORT, INFO_VALUE, TYPE_BOOL);
        info.set(JAVA_BYTE, INFO_VALUE + DATA, (byte) 1);
        MethodHandle fence = handle("PMIx_Fence", ints(ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
        check("PMIx_Fence", NativeCalls.call(() -> (int) fence.invokeExact(MemorySegment.NULL, 0L, info, 1L)));
    }

    String text(int rank, String key) {
        MemorySegment value = get(rank, key);
        short type = value.get(JAVA_SHORT, 0);
        if (type != TYPE_STRING) {
            throw new LauncherException(key + " has type " + type + ", not the type of a string");
        }
        return NativeCalls.string(value.get(ADDRESS, DATA));
    }

    /** {@return a value; PMIx_Get} The memory that it allocates is not freed. */
    private MemorySegment get(int rank, String key) {
        AddressLayout result = ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(VALUE, JAVA_BYTE));
        MemorySegment proc = arena.allocate(PROC, Integer.BYTES).copyFrom(self);
        proc.set(JAVA_INT, NAMESPACE, rank);
        MemorySegment name = arena.allocateFrom(key);
        MemorySegment found = arena.allocate(result);
        MethodHandle get = handle("PMIx_Get", ints(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
        check("PMIx_Get of " + key,
                NativeCalls.call(() -> (int) get.invokeExact(proc, name, MemorySegment.NULL, 0L, found)));
        return found.get(result, 0);
    }

    void abort(int code, String why) {
        MemorySegment message = arena.allocateFrom(why);
        MethodHandle abort = handle("PMIx_Abort", ints(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
        NativeCalls.call(() -> (int) abort.invokeExact(code, message, MemorySegment.NULL, 0L));
    }

    void finish() {
        MethodHandle finish = handle("PMIx_Finalize", ints(ADDRESS, JAVA_LONG));
        NativeCalls.call(() -> (int) finish.invokeExact(MemorySegment.NULL, 0L));
    }
}
