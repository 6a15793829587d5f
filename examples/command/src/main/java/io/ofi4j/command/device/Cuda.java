package io.ofi4j.command.device;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.info.DeviceInterface;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.LinkedHashSet;

/** Memory of a CUDA device, by calls of its driver alone: no toolkit is needed. */
@SuppressWarnings("restricted")
final class Cuda implements DeviceMemory {
    static final int INVALID_VALUE = 1;
    static final int DMA_BUF_SUPPORTED = 124;
    static final int INTEGRATED = 18;
    static final int UNIFIED_ADDRESSING = 41;
    static final int PAGEABLE_MEMORY_ACCESS = 88;

    private static final String LIBRARY = "libcuda.so.1";
    private static final int NAME_LENGTH = 256;
    private static final int DMA_BUF_FD = 1;
    /** CU_MEMHOSTREGISTER_PORTABLE. */
    private static final int PORTABLE = 1;

    final int device;
    private final Arena arena = Arena.ofShared();
    private final SymbolLookup driver;
    private final Map<String, MethodHandle> handles = new HashMap<>();
    private final Set<Long> allocated = new LinkedHashSet<>();
    private MemorySegment context = MemorySegment.NULL;

    private Cuda(int device) {
        this.device = device;
        this.driver = SymbolLookup.libraryLookup(LIBRARY, arena);
    }

    /** {@return why there is no such device here; empty if there is one} */
    static String whyNot(int device) {
        Cuda cuda;
        try {
            cuda = new Cuda(device);
        } catch (IllegalArgumentException e) {
            return "there is no CUDA driver here: no " + LIBRARY;
        }
        try (Arena arena = Arena.ofConfined()) {
            int status = cuda.call("cuInit", 0);
            if (status != 0) { return "the CUDA driver does not start here: " + cuda.error(status); }
            MemorySegment count = arena.allocate(JAVA_INT);
            status = cuda.call("cuDeviceGetCount", count);
            if (status != 0) { return "the CUDA driver counts no devices here: " + cuda.error(status); }
            int devices = count.get(JAVA_INT, 0);
            return devices > device ? "" : "there are " + devices + " CUDA devices here, and none has number " + device;
        }
    }

    /** Opens it, with the device's primary context on this thread. */
    static Cuda open(int device) {
        Cuda opened = new Cuda(device);
        opened.check("cuInit", 0);
        MemorySegment context = opened.arena.allocate(ADDRESS);
        opened.check("cuDevicePrimaryCtxRetain", context, device);
        opened.context = context.get(ADDRESS, 0);
        opened.useContext();
        return opened;
    }

    /** Makes the primary context that of this thread. */
    void useContext() { check("cuCtxSetCurrent", context); }

    /** Leaves this thread without a context. */
    void useNoContext() { check("cuCtxSetCurrent", MemorySegment.NULL); }

    /** Makes a context of its own, on this thread. */
    MemorySegment createContext() {
        MemorySegment created = arena.allocate(ADDRESS);
        check("cuCtxCreate_v2", created, 0, device);
        return created.get(ADDRESS, 0);
    }

    void destroyContext(MemorySegment created) { check("cuCtxDestroy_v2", created); }

    /** {@return the name of the card} */
    String name() {
        MemorySegment text = arena.allocate(NAME_LENGTH);
        check("cuDeviceGetName", text, NAME_LENGTH, device);
        return text.getString(0);
    }

    /** {@return the version of CUDA that the driver has} */
    String version() {
        MemorySegment number = arena.allocate(JAVA_INT);
        check("cuDriverGetVersion", number);
        int version = number.get(JAVA_INT, 0);
        return version / 1000 + "." + version % 1000 / 10;
    }

    long totalMemory() {
        MemorySegment bytes = arena.allocate(JAVA_LONG);
        check("cuDeviceTotalMem_v2", bytes, device);
        return bytes.get(JAVA_LONG, 0);
    }

    int attribute(int attribute) {
        MemorySegment value = arena.allocate(JAVA_INT);
        return call("cuDeviceGetAttribute", value, attribute, device) == 0 ? value.get(JAVA_INT, 0) : -1;
    }

    @Override
    public long allocate(long length) {
        MemorySegment pointer = arena.allocate(JAVA_LONG);
        check("cuMemAlloc_v2", pointer, length);
        long address = pointer.get(JAVA_LONG, 0);
        allocated.add(address);
        return address;
    }

    @Override
    public void free(long address) {
        allocated.remove(address);
        check("cuMemFree_v2", address);
    }

    /** Memory that has gone with its context is not freed. */
    void forget(long address) { allocated.remove(address); }

    @Override
    public void put(long address, MemorySegment bytes) {
        check("cuMemcpyHtoD_v2", address, bytes, bytes.byteSize());
        synchronize();
    }

    @Override
    public void get(MemorySegment bytes, long address) { check("cuMemcpyDtoH_v2", bytes, address, bytes.byteSize()); }

    @Override
    public void copy(long to, long from, long length) {
        check("cuMemcpyDtoD_v2", to, from, length);
        synchronize();
    }

    @Override
    public void fill(long address, long length, byte value) {
        check("cuMemsetD8_v2", address, value, length);
        synchronize();
    }

    private void synchronize() { check("cuCtxSynchronize"); }

    @Override
    public void pin(MemorySegment bytes) { check("cuMemHostRegister_v2", bytes, bytes.byteSize(), PORTABLE); }

    /** {@return the descriptor of a DMA-buf of this memory, which is whole pages, or the driver's error below 0} */
    int exportDmaBuf(long address, long length) {
        MemorySegment descriptor = arena.allocate(JAVA_INT);
        int status = call("cuMemGetHandleForAddressRange", descriptor, address, length, DMA_BUF_FD, 0L);
        return status == 0 ? descriptor.get(JAVA_INT, 0) : -status;
    }

    @Override
    public MemoryRegionAttributes attributes(long address, long length) {
        return MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, device, address, length);
    }

    @Override
    public boolean isDevice() { return true; }

    /** {@return an error of the driver as text} */
    String error(int status) {
        MemorySegment name = arena.allocate(ADDRESS);
        return call("cuGetErrorName", status, name) == 0
                ? name.get(ADDRESS, 0).reinterpret(NAME_LENGTH).getString(0) + " (" + status + ")"
                : "error " + status;
    }

    private void check(String function, Object... arguments) {
        int status = call(function, arguments);
        if (status != 0) { throw new IllegalStateException(function + ": " + error(status)); }
    }

    private int call(String function, Object... arguments) {
        MethodHandle handle = handles.computeIfAbsent(function, name -> {
            MemoryLayout[] layouts = new MemoryLayout[arguments.length];
            for (int argument = 0; argument < arguments.length; argument++) {
                layouts[argument] = switch (arguments[argument]) {
                    case Byte _ -> JAVA_BYTE;
                    case Integer _ -> JAVA_INT;
                    case Long _ -> JAVA_LONG;
                    default -> ADDRESS;
                };
            }
            return Linker.nativeLinker().downcallHandle(driver.find(name).orElseThrow(),
                    FunctionDescriptor.of(JAVA_INT, layouts));
        });
        try {
            return (int) handle.invokeWithArguments(arguments);
        } catch (Throwable t) {
            throw new IllegalStateException(function, t);
        }
    }

    @Override
    public void close() {
        for (long address : Set.copyOf(allocated)) {
            free(address);
        }
        check("cuDevicePrimaryCtxRelease_v2", device);
    }
}
