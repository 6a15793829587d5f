package io.ofi4j.command.device;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import java.lang.foreign.MemorySegment;

/** What one process has for the transfers: memory of the host and of the device, of the same length, registered. */
final class Memory implements AutoCloseable {
    static final Access[] ALL = Access.values();
    static final byte CLEARED = (byte) 0xa5;

    /** Where bytes are. */
    enum Place {
        host, gpu
    }

    final Node node;
    final DeviceMemory device;
    final Contents contents;
    final long length;
    final MemoryRegion host;
    final long gpu;
    /**
     * The device's memory, which a provider copies through the host's; null where the provider has no memory of
     * devices.
     */
    final MemoryRegion staged;
    /** The same memory, which other processes may map. */
    final MemoryRegion direct;

    Memory(Node node, DeviceMemory device, long length, boolean registersDevice) {
        this.node = node;
        this.device = device;
        this.length = length;
        this.contents = new Contents(length);
        this.host = node.domain.allocate(length, ALL);
        this.gpu = device.allocate(length);
        this.staged = registersDevice ? node.domain.register(device.attributes(gpu, length).access(ALL)) : null;
        this.direct = registersDevice ? node.domain.register(directly(device, gpu, length)) : null;
    }

    static MemoryRegionAttributes directly(DeviceMemory device, long address, long length) {
        MemoryRegionAttributes attributes = device.attributes(address, length).access(ALL);
        return device.isDevice() ? attributes.deviceOnly() : attributes;
    }

    MemorySegment hostBytes(long bytes) { return host.segment().asSlice(0, bytes); }

    void fill(Place place, long bytes, int seed) {
        if (place == Place.host) {
            hostBytes(bytes).copyFrom(contents.of(seed, bytes));
        } else {
            device.put(gpu, contents.of(seed, bytes));
        }
    }

    void clear(Place place, long bytes) { fill(place, bytes, CLEARED); }

    void zero(Place place, long bytes) { fill(place, bytes, (byte) 0); }

    private void fill(Place place, long bytes, byte value) {
        if (place == Place.host) {
            hostBytes(bytes).fill(value);
        } else {
            device.fill(gpu, bytes, value);
        }
    }

    /** {@return where the first byte differs, or -1} */
    long mismatch(Place place, long bytes, int seed) {
        return place == Place.host
                ? contents.mismatch(hostBytes(bytes), seed)
                : contents.mismatch(device, gpu, bytes, seed);
    }

    /** The program's own copies, for providers that know no device. */
    void toDevice(long bytes) {
        device.put(gpu, hostBytes(bytes));
    }

    void toHost(long bytes) { device.get(hostBytes(bytes), gpu); }

    @Override
    public void close() {
        if (staged != null) {
            staged.close();
            direct.close();
        }
        host.close();
    }
}
