package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What to register, and how; {@code struct fi_mr_attr}, fi_mr(3), for {@link Domain#register(MemoryRegionAttributes)}.
 * Immutable: each method returns a changed copy. The default key is random. There is no {@code offset}, because
 * libfabric requires 0: register a slice of the memory instead.
 */
public final class MemoryRegionAttributes implements Cloneable {
    private List<MemorySegment> segments;
    private long accessBits;
    private OptionalLong requestedKey = OptionalLong.empty();
    private Optional<Endpoint> endpoint = Optional.empty();
    private Optional<Counter> counter = Optional.empty();
    private boolean persistent;
    private DeviceInterface deviceInterface = DeviceInterface.SYSTEM;
    private int device;
    private long deviceLength;
    private boolean deviceOnly;
    private OptionalInt dmaBuf = OptionalInt.empty();
    private long dmaBufOffset;

    private MemoryRegionAttributes(List<MemorySegment> segments) { this.segments = segments; }

    /** As {@link #of(List)}. */
    public static MemoryRegionAttributes of(MemorySegment... segments) {
        return of(Arrays.asList(segments));
    }

    /**
     * {@return attributes of a region of this memory}
     *
     * @param segments off-heap memory, at least one segment. Several segments, up to {@link
     *         DomainAttributes#memoryRegionIovLimit}, make one region with one descriptor for local use; see {@link
     *         MemoryRegion#parts}
     * @throws IllegalArgumentException if the list is empty
     * @throws NullPointerException if a segment is null
     */
    public static MemoryRegionAttributes of(List<MemorySegment> segments) {
        List<MemorySegment> all = new ArrayList<>(segments); // the caller's list may return other elements each time
        if (all.isEmpty()) { throw new IllegalArgumentException("a memory region has at least one segment"); }
        all.forEach(segment -> Objects.requireNonNull(segment, "one of the segments is null"));
        return new MemoryRegionAttributes(List.copyOf(all));
    }

    /**
     * {@return attributes of a region of a device's memory} The program allocates the memory with the device's own
     * calls, and frees it after the region is closed. This process does not read or write it, so the region has no
     * {@link MemoryRegion#segment}. Needs {@link Capability#HMEM}.
     *
     * <p>Registering throws UnsupportedOperationException if the device or its driver is missing, and
     * IllegalArgumentException if the memory at the address is not that device's, or has fewer bytes. If the program
     * frees the memory too early, its own operations throw IllegalStateException where the driver can be asked, as that
     * of CUDA can. If a peer uses freed memory, this process ends with a signal, as a C program does.
     *
     * @param whose the device's interface, not {@link DeviceInterface#SYSTEM}
     * @param device the number of the device, 0 or more, as its interface counts them
     * @param address where the memory begins
     * @param length the number of bytes, at least 1
     * @throws IllegalArgumentException if a number is out of range, or the memory is the system's
     */
    public static MemoryRegionAttributes ofDevice(DeviceInterface whose, int device, long address, long length) {
        if (whose == DeviceInterface.SYSTEM) {
            throw new IllegalArgumentException("this method is for memory of a device: pass system memory to of(...)");
        }
        if (device < 0) { throw new IllegalArgumentException("a device has the number 0 or more, not " + device); }
        if (address == 0) { throw new IllegalArgumentException("there is no memory at address 0"); }
        Registration.requireLength(length);
        MemoryRegionAttributes attributes = of(MemorySegment.ofAddress(address));
        attributes.deviceInterface = Objects.requireNonNull(whose, "whose");
        attributes.device = device;
        attributes.deviceLength = length;
        return attributes;
    }

    /**
     * {@return a copy that names the memory as part of a DMA-buf, which some network devices need for device memory;
     * FI_MR_DMABUF, fi_mr(3)} The memory of these attributes is the mapping of that part: the device's pointer, or a
     * segment in this process. The caller owns descriptor and mapping, and keeps them until the region is closed.
     *
     * <p>It needs {@link Capability#HMEM} and libfabric 2. Registering throws UnsupportedOperationException if one of
     * these is missing or the provider takes no DMA-bufs, IllegalArgumentException if the descriptor is not open or is
     * not a DMA-buf, and IndexOutOfBoundsException if the DMA-buf has fewer bytes.
     *
     * @param descriptor the file descriptor, as a device's driver or {@code /dev/udmabuf} exports it
     * @param offset the start of the memory in the DMA-buf, in bytes
     * @throws IllegalArgumentException if a number is below 0, or the memory has several segments
     */
    public MemoryRegionAttributes dmaBuf(int descriptor, long offset) {
        if (descriptor < 0) { throw new IllegalArgumentException("a file descriptor is 0 or more, not " + descriptor); }
        if (offset < 0) { throw new IllegalArgumentException("an offset in a DMA-buf is 0 or more, not " + offset); }
        if (segments.size() > 1) {
            throw new IllegalArgumentException(
                    "a DMA-buf is registered as one segment, not " + segments.size() + ": register several regions");
        }
        return with(copy -> {
            copy.dmaBuf = OptionalInt.of(descriptor);
            copy.dmaBufOffset = offset;
        });
    }

    /**
     * {@return a copy that says that the host can never access this memory of a device; FI_HMEM_DEVICE_ONLY, fi_mr(3)}
     * That is true of memory from {@code cuMemAlloc}, and not of managed memory. The provider may then have another
     * process map the memory and copy directly, instead of through memory of the host. It matters for the local region
     * of the process that posts an operation. An operation between two endpoints of one process may then fail with
     * {@code EIO} (5): a process cannot map its own memory.
     *
     * @throws IllegalArgumentException if the memory is not a device's
     */
    public MemoryRegionAttributes deviceOnly() {
        if (!isOnDevice()) {
            throw new IllegalArgumentException(
                    "the host can access system memory: use deviceOnly() with memory from ofDevice(...)");
        }
        return with(copy -> copy.deviceOnly = true);
    }

    /** {@return a copy that grants exactly these rights, at least one} */
    public MemoryRegionAttributes access(Access... rights) {
        long bits = Access.bitsOf(rights);
        return with(copy -> copy.accessBits = bits);
    }

    /**
     * {@return a copy that asks for this key, where the provider lets the application choose keys} A peer that guesses
     * the key can use the region.
     *
     * @param key up to {@link DomainAttributes#keySize} bytes
     * @throws IllegalArgumentException if it is -1, libfabric's value for no key (FI_KEY_NOTAVAIL)
     */
    public MemoryRegionAttributes requestedKey(long key) {
        if (key == Registration.NO_KEY) {
            throw new IllegalArgumentException("-1 stands for no key (FI_KEY_NOTAVAIL): choose another key");
        }
        return with(copy -> copy.requestedKey = OptionalLong.of(key));
    }

    /** {@return a copy with a random key, or the provider's; the default} */
    public MemoryRegionAttributes randomKey() {
        return with(copy -> copy.requestedKey = OptionalLong.empty());
    }

    /**
     * {@return a copy for persistent memory, whose writes {@link OperationFlag#COMMIT_COMPLETE} makes durable;
     * FI_RMA_PMEM} Needs {@link Capability#RMA_PMEM}.
     */
    public MemoryRegionAttributes persistent() { return with(copy -> copy.persistent = true); }

    /**
     * {@return a copy that binds the region to this endpoint of the same domain, where the provider demands an endpoint
     * (FI_MR_ENDPOINT)} The default is the domain's first enabled endpoint. Other providers ignore it.
     */
    public MemoryRegionAttributes endpoint(Endpoint owner) {
        return with(copy -> copy.endpoint = Optional.of(owner));
    }

    /**
     * {@return a copy with a counter of peers' writes; fi_mr_bind with FI_REMOTE_WRITE, fi_mr(3)} Few providers offer
     * it; others refuse the registration with UnsupportedOperationException. The counter must be of the same domain,
     * and is closed after the region.
     */
    public MemoryRegionAttributes countedBy(Counter openCounter) {
        return with(copy -> copy.counter = Optional.of(openCounter));
    }

    /** {@return the counter of peers' writes, if there is one} */
    public Optional<Counter> counter() { return counter; }

    /** {@return the memory; for device memory, one segment of no bytes} */
    public List<MemorySegment> segments() {
        return segments;
    }

    /** {@return the kind of device that the memory belongs to} */
    public DeviceInterface deviceInterface() {
        return deviceInterface;
    }

    /** {@return the number of the device; 0 for the system's memory} */
    public int device() { return device; }

    /** {@return whether the host can never access the memory} */
    public boolean isDeviceOnly() { return deviceOnly; }

    /** {@return the descriptor of the DMA-buf, if there is one} */
    public OptionalInt dmaBuf() { return dmaBuf; }

    /** {@return the start of the memory in the DMA-buf, in bytes} */
    public long dmaBufOffset() { return dmaBufOffset; }

    boolean isOnDevice() { return deviceInterface != DeviceInterface.SYSTEM; }

    /** {@return the length of the first segment} */
    long length() {
        return isOnDevice() ? deviceLength : segments.getFirst().byteSize();
    }

    /** {@return the granted rights} */
    public Set<Access> access() {
        return accessBits == 0 ? Set.of() : EnumSet.copyOf(Access.setOf(accessBits));
    }

    long accessBits() { return accessBits; }

    /** {@return the attributes of one segment of several} */
    MemoryRegionAttributes part(MemorySegment segment) {
        return with(copy -> copy.segments = List.of(segment));
    }

    /** {@return the requested key; empty if it is random} */
    public OptionalLong requestedKey() { return requestedKey; }

    /** {@return whether it is persistent memory} */
    public boolean isPersistent() { return persistent; }

    /** {@return the named endpoint, if there is one} */
    public Optional<Endpoint> endpoint() { return endpoint; }

    /** {@return a description without the key, which is a secret} */
    @Override
    public String toString() {
        return "MemoryRegionAttributes[" + segments.size() + " segments, access=" + access() + "]";
    }

    private MemoryRegionAttributes with(Consumer<MemoryRegionAttributes> change) {
        try {
            MemoryRegionAttributes copy = (MemoryRegionAttributes) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
