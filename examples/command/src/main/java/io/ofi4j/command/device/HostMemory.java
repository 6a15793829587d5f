package io.ofi4j.command.device;

import io.ofi4j.MemoryRegionAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** Memory of this machine, in place of a GPU's: a rehearsal shows that the checks themselves work. */
final class HostMemory implements DeviceMemory {
    private final Arena arena = Arena.ofShared();
    private final Map<Long, MemorySegment> allocated = new HashMap<>();

    private MemorySegment at(long address, long length) {
        return allocated.values().stream()
                .filter(one -> one.address() <= address && address + length <= one.address() + one.byteSize())
                .map(one -> one.asSlice(address - one.address(), length)).findFirst().orElseThrow();
    }

    @Override
    public long allocate(long length) {
        MemorySegment memory = arena.allocate(length, Long.BYTES);
        allocated.put(memory.address(), memory);
        return memory.address();
    }

    @Override
    public void free(long address) { allocated.remove(address); }

    @Override
    public void put(long address, MemorySegment bytes) { at(address, bytes.byteSize()).copyFrom(bytes); }

    @Override
    public void get(MemorySegment bytes, long address) { bytes.copyFrom(at(address, bytes.byteSize())); }

    @Override
    public void copy(long to, long from, long length) { at(to, length).copyFrom(at(from, length)); }

    @Override
    public void fill(long address, long length, byte value) { at(address, length).fill(value); }

    @Override
    public void pin(MemorySegment bytes) {
        // No device copies from it.
    }

    @Override
    public MemoryRegionAttributes attributes(long address, long length) {
        return MemoryRegionAttributes.of(at(address, length));
    }

    @Override
    public boolean isDevice() { return false; }

    @Override
    public void close() { arena.close(); }
}
