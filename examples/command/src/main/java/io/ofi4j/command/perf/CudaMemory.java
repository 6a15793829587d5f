package io.ofi4j.command.perf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.command.CommandFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/** Memory of a CUDA device, by calls of NVIDIA's driver: no toolkit is needed. Any thread may copy. */
@SuppressWarnings("restricted")
final class CudaMemory implements AutoCloseable {
    private static final String DRIVER = "libcuda.so.1";
    private static final int LONGEST_NAME = 256;

    private final int device;
    private final Arena arena = Arena.ofShared();
    private final SymbolLookup driver;
    private final MemorySegment context;
    private final long address;

    private CudaMemory(int device, SymbolLookup driver, long length) {
        this.device = device;
        this.driver = driver;
        MemorySegment pointer = arena.allocate(ADDRESS);
        check("cuDevicePrimaryCtxRetain", pointer, device);
        context = pointer.get(ADDRESS, 0);
        check("cuCtxSetCurrent", context);
        MemorySegment allocated = arena.allocate(JAVA_LONG);
        check("cuMemAlloc_v2", allocated, length);
        address = allocated.get(JAVA_LONG, 0);
    }

    /** {@return so many bytes of a device that {@link #require} has found} */
    static CudaMemory allocate(int device, long length) {
        return new CudaMemory(device, driver(), length);
    }

    /** Fails with a sentence where there is no such device. */
    static void require(int device) {
        SymbolLookup driver = driver();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            int status = call(driver, "cuInit", 0);
            if (status == 0) { status = call(driver, "cuDeviceGetCount", count); }
            if (status != 0) {
                throw failure("NVIDIA's driver finds no CUDA device here (" + text(driver, status) + ")");
            }
            int devices = count.get(JAVA_INT, 0);
            if (device >= devices) {
                throw failure(devices == 0
                        ? "This machine has no CUDA device"
                        : "The last CUDA device here has the number " + (devices - 1) + ", and there is none with "
                                + device);
            }
        }
    }

    private static SymbolLookup driver() {
        try {
            return SymbolLookup.libraryLookup(DRIVER, Arena.global());
        } catch (IllegalArgumentException e) {
            throw failure("This machine has no CUDA device: there is no " + DRIVER + ", NVIDIA's driver");
        }
    }

    private static CommandFailure failure(String reason) {
        return new CommandFailure(reason + ". Leave --device out to measure memory of the host.");
    }

    /** {@return where it begins} */
    long address() { return address; }

    /** Copies from the host, and waits. */
    void put(MemorySegment bytes) {
        check("cuCtxSetCurrent", context);
        check("cuMemcpyHtoD_v2", address, bytes, bytes.byteSize());
        check("cuCtxSynchronize");
    }

    /** Copies to the host, and waits. */
    void get(MemorySegment bytes) {
        check("cuCtxSetCurrent", context);
        check("cuMemcpyDtoH_v2", bytes, address, bytes.byteSize());
    }

    private void check(String function, Object... arguments) {
        int status = call(driver, function, arguments);
        if (status != 0) {
            throw new CommandFailure("CUDA device " + device + " fails at " + function + ": " + text(driver, status)
                    + ". Ask for smaller sizes (-S), or another device.");
        }
    }

    private static String text(SymbolLookup driver, int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(ADDRESS);
            return call(driver, "cuGetErrorName", status, name) == 0
                    ? name.get(ADDRESS, 0).reinterpret(LONGEST_NAME).getString(0)
                    : "error " + status;
        }
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
            throw new AssertionError(function, t);
        }
    }

    @Override
    public void close() {
        check("cuCtxSetCurrent", context);
        check("cuMemFree_v2", address);
        check("cuDevicePrimaryCtxRelease_v2", device);
        arena.close();
    }
}
