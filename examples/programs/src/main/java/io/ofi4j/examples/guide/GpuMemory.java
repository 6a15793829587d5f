package io.ofi4j.examples.guide;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import java.util.Arrays;

/** Writes to memory of a GPU, and reads it back. */
public final class GpuMemory {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int DEVICE = 0;
    private static final long LENGTH = 4096;

    private GpuMemory() {}

    @SuppressWarnings("restricted")
    public static void main(String[] arguments) throws Throwable {
        SymbolLookup driver;
        try {
            driver = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
        } catch (IllegalArgumentException e) {
            System.out.println("this machine has no NVIDIA driver");
            return;
        }
        MemorySegment out = Arena.global().allocate(JAVA_LONG);
        cuda(driver, "cuInit", 0);
        cuda(driver, "cuDevicePrimaryCtxRetain", out, DEVICE);
        cuda(driver, "cuCtxSetCurrent", out.get(ADDRESS, 0));
        cuda(driver, "cuMemAlloc_v2", out, LENGTH);
        long pointer = out.get(JAVA_LONG, 0); // yours; free it after the region is closed

        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider("shm").capabilities(Capability.RMA, Capability.HMEM)
                .operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion text = domain.allocate(64, Access.WRITE, Access.READ);
                MemoryRegion gpu = domain
                        .register(MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, DEVICE, pointer, LENGTH)
                                .access(Access.REMOTE_WRITE, Access.REMOTE_READ));
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            text.segment().setString(0, "Hello, GPU");
            here.rma().write(text.slice(0, 64), peer, gpu.remote(), 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);

            text.segment().fill((byte) 0);
            here.rma().read(text.slice(0, 64), peer, gpu.remote(), 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("read from the GPU: " + text.segment().getString(0));
        }
        cuda(driver, "cuMemFree_v2", pointer);
        cuda(driver, "cuDevicePrimaryCtxRelease_v2", DEVICE);
    }

    /** Calls a function of the driver. Its arguments are int, long or pointers. */
    @SuppressWarnings("restricted")
    private static void cuda(SymbolLookup driver, String function, Object... arguments) throws Throwable {
        MemoryLayout[] types = Arrays.stream(arguments)
                .map(one -> one instanceof Integer ? JAVA_INT : one instanceof Long ? JAVA_LONG : ADDRESS)
                .toArray(MemoryLayout[]::new);
        int error = (int) Linker.nativeLinker()
                .downcallHandle(driver.find(function).orElseThrow(), FunctionDescriptor.of(JAVA_INT, types))
                .invokeWithArguments(arguments);
        if (error != 0) { throw new IllegalStateException(function + ": CUDA error " + error); }
    }
}
