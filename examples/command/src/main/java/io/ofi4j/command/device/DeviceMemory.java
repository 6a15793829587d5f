package io.ofi4j.command.device;

import io.ofi4j.MemoryRegionAttributes;
import java.lang.foreign.MemorySegment;

/** Memory that the checks move: a GPU's, or what stands in for it in a rehearsal. Used by the thread that opens it. */
interface DeviceMemory extends AutoCloseable {
    /** Of a command line: {@code cuda:N}, or {@code host} for memory of this machine. */
    static DeviceMemory open(String name) {
        return name.equals(DeviceRun.HOST) ? new HostMemory() : Cuda.open(Integer.parseInt(name.split(":", 2)[1]));
    }

    /** {@return the address of so many bytes, freed with this} */
    long allocate(long length);

    void free(long address);

    /** Copies from the host, and waits. */
    void put(long address, MemorySegment bytes);

    /** Copies to the host, and waits. */
    void get(MemorySegment bytes, long address);

    /** Copies inside the device, and waits. */
    void copy(long to, long from, long length);

    void fill(long address, long length, byte value);

    /** Says that memory of the host takes part in copies: its pages stay where they are. */
    void pin(MemorySegment bytes);

    /** {@return what a region of this memory is registered with, without rights} */
    MemoryRegionAttributes attributes(long address, long length);

    /** {@return whether there is a device, and regions of it can be registered as one} */
    boolean isDevice();

    @Override
    void close();
}
