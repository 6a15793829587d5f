package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.info.DeviceInterface;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/** The drivers of devices with memory of their own, which libfabric loads by the same names. */
@SuppressWarnings("restricted")
public final class DeviceDrivers {
    private DeviceDrivers() {}

    /** The driver's library. */
    public static String library(DeviceInterface of) {
        return switch (of) {
            case SYSTEM -> "libc.so.6";
            case CUDA -> "libcuda.so.1";
            case ROCR -> "libhsa-runtime64.so.1";
            case ZE -> "libze_loader.so.1";
            case NEURON -> "libnrt.so.1";
            case SYNAPSEAI -> "libSynapse.so";
        };
    }

    /** Whether the driver can be loaded: without it there is no memory of that kind. */
    public static boolean isInstalled(DeviceInterface which) {
        try {
            SymbolLookup.libraryLookup(library(which), Arena.global());
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /**
     * The reason why memory is not the device's, as the end of a sentence; empty if none is known. libfabric does not
     * check this, and then reads addresses that are not mapped. Only the driver of CUDA can be asked.
     */
    public static String describeProblem(DeviceInterface whose, int device, long address) {
        return whose == DeviceInterface.CUDA ? Cuda.describeProblem(device, address) : "";
    }

    /** Whether memory of a device is still there; true where there is no way to ask. */
    public static boolean hasMemory(DeviceInterface whose, long address) {
        return whose != DeviceInterface.CUDA || !Cuda.isUnknown(address);
    }

    /**
     * Makes the driver's plain copies of this memory synchronous; CU_POINTER_ATTRIBUTE_SYNC_MEMOPS. Without this,
     * copies inside a device continue after their calls have returned.
     */
    public static void synchronizeCopies(DeviceInterface whose, long address) {
        if (whose == DeviceInterface.CUDA) { Cuda.synchronizeCopies(address); }
    }

    /** cuPointerGetAttribute and cuPointerSetAttribute of the CUDA driver. */
    private static final class Cuda {
        private static final SymbolLookup DRIVER = SymbolLookup.libraryLookup(library(DeviceInterface.CUDA),
                Arena.global());
        private static final Optional<MemorySegment> SET = DRIVER.find("cuPointerSetAttribute");
        private static final Optional<MemorySegment> GET = DRIVER.find("cuPointerGetAttribute");

        /** Memory for results that are not read. */
        private static final MemorySegment IGNORED = Arena.global().allocate(JAVA_LONG);
        private static final int SUCCESS = 0;
        private static final int INVALID_VALUE = 1;
        private static final int MEMORY_TYPE = 2;
        private static final int SYNC_MEMOPS = 6;
        private static final int IS_MANAGED = 8;
        private static final int DEVICE_ORDINAL = 9;
        private static final int TYPE_DEVICE = 2;

        static String describeProblem(int device, long address) {
            if (GET.isEmpty()) { return ""; }
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment value = arena.allocate(JAVA_LONG);
                int status = attribute(value, MEMORY_TYPE, address);
                if (status == INVALID_VALUE) { return "is not CUDA memory, or was freed"; }
                boolean isDevices = status == SUCCESS && value.get(JAVA_INT, 0) == TYPE_DEVICE
                        && attribute(value.fill((byte) 0), IS_MANAGED, address) == SUCCESS
                        && value.get(JAVA_INT, 0) == 0;
                if (!isDevices || attribute(value, DEVICE_ORDINAL, address) != SUCCESS) { return ""; }
                int owner = value.get(JAVA_INT, 0);
                return owner == device ? "" : "belongs to CUDA device " + owner + ", not to device " + device;
            }
        }

        static boolean isUnknown(long address) {
            return GET.isPresent() && attribute(IGNORED, MEMORY_TYPE, address) == INVALID_VALUE;
        }

        static void synchronizeCopies(long address) {
            if (SET.isEmpty()) { return; }
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment on = arena.allocateFrom(JAVA_INT, 1);
                // the driver refuses this for managed memory, which is ignored
                Downcalls.callForInt(SET.orElseThrow(), on, SYNC_MEMOPS, address);
            }
        }

        private static int attribute(MemorySegment value, int attribute, long address) {
            return (int) Downcalls.call(false, GET.orElseThrow(), value.address(), attribute, address);
        }
    }
}
