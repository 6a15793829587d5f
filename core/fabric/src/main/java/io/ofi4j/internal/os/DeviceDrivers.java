package io.ofi4j.internal.os;

import io.ofi4j.info.DeviceInterface;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

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
    public static boolean isThere(DeviceInterface which) {
        try {
            SymbolLookup.libraryLookup(library(which), Arena.global());
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
