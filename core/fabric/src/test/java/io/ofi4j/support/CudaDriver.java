package io.ofi4j.support;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.info.DeviceInterface;
import io.ofi4j.internal.os.DeviceDrivers;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.List;

/** Memory of the first CUDA device, by calls of its driver; no toolkit is needed. Used by the thread that opens it. */
@SuppressWarnings("restricted")
public final class CudaDriver implements AutoCloseable {
    private static final int DEVICE = 0;

    private final Arena arena = Arena.ofConfined();
    private final SymbolLookup driver;
    private final List<Long> allocated = new ArrayList<>();

    private CudaDriver() { driver = SymbolLookup.libraryLookup(DeviceDrivers.library(DeviceInterface.CUDA), arena); }

    /** {@return why there is no such device here; empty if there is one} */
    public static String whyNot() {
        if (!DeviceDrivers.isInstalled(DeviceInterface.CUDA)) {
            return "there is no CUDA driver here: no " + DeviceDrivers.library(DeviceInterface.CUDA);
        }
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup driver = SymbolLookup.libraryLookup(DeviceDrivers.library(DeviceInterface.CUDA), arena);
            MemorySegment count = arena.allocate(JAVA_INT);
            int status = call(driver, "cuInit", 0);
            status = status == 0 ? call(driver, "cuDeviceGetCount", count) : status;
            if (status != 0) { return "the CUDA driver does not start here, error " + status; }
            return count.get(JAVA_INT, 0) == 0 ? "the CUDA driver has no device here" : "";
        }
    }

    /** Opens it, with a context on this thread. */
    public static CudaDriver open() {
        CudaDriver opened = new CudaDriver();
        try {
            opened.check("cuInit", 0);
            MemorySegment context = opened.arena.allocate(ADDRESS);
            opened.check("cuDevicePrimaryCtxRetain", context, DEVICE);
            opened.check("cuCtxSetCurrent", context.get(ADDRESS, 0));
        } catch (Throwable t) {
            opened.arena.close();
            throw t;
        }
        return opened;
    }

    /** {@return the address of so many bytes of the device, freed with this} */
    public long allocate(long length) {
        MemorySegment pointer = arena.allocate(JAVA_LONG);
        check("cuMemAlloc_v2", pointer, length);
        allocated.add(pointer.get(JAVA_LONG, 0));
        return allocated.getLast();
    }

    public void put(long pointer, MemorySegment bytes) { check("cuMemcpyHtoD_v2", pointer, bytes, bytes.byteSize()); }

    public void get(MemorySegment bytes, long pointer) { check("cuMemcpyDtoH_v2", bytes, pointer, bytes.byteSize()); }

    private void check(String function, Object... arguments) {
        int status = call(driver, function, arguments);
        if (status != 0) { throw new IllegalStateException(function + ": error " + status); }
    }

    private static int call(SymbolLookup driver, String function, Object... arguments) {
        MemoryLayout[] layouts = new MemoryLayout[arguments.length];
        for (int argument = 0; argument < arguments.length; argument++) {
            layouts[argument] = switch (arguments[argument]) {
                case Integer _ -> JAVA_INT;
                case Long _ -> JAVA_LONG;
                default -> ADDRESS;
            };
        }
        try {
            return (int) Linker.nativeLinker()
                    .downcallHandle(driver.find(function).orElseThrow(), FunctionDescriptor.of(JAVA_INT, layouts))
                    .invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw new IllegalStateException(function, t);
        }
    }

    @Override
    public void close() {
        allocated.forEach(pointer -> check("cuMemFree_v2", pointer));
        check("cuDevicePrimaryCtxRelease_v2", DEVICE);
        arena.close();
    }
}
