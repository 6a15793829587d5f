package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.DeviceDrivers;
import io.ofi4j.internal.os.DmaBufs;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Registers memory: checks it before the native call, chooses its key, and does what the provider's mr_mode demands.
 */
record Registration(Domain domain, MemoryRegionAttributes wanted, Call call) {
    /** FI_KEY_NOTAVAIL. */
    static final long NO_KEY = -1;

    private static final int KEY_TRIES = 8;
    /** The error numbers with which providers say that they take no DMA-bufs. */
    private static final Set<Integer> NO_DMA_BUFS = Set.of(Errno.ENOSYS, Errno.EOPNOTSUPP, Errno.EBADFLAGS);
    private static final long READING = Access.WRITE.bit() | Access.SEND.bit() | Access.REMOTE_READ.bit();
    private static final SecureRandom RANDOM = new SecureRandom();

    /** The libfabric call that registers. */
    enum Call {
        ONE("fi_mr_reg"), VECTOR("fi_mr_regv"), ATTRIBUTES("fi_mr_regattr");

        final String operation;

        Call(String operation) { this.operation = operation; }
    }

    /** Checks what the caller gives: memory, rights, key and options. */
    void requireValid() {
        requireRights(wanted.accessBits());
        requireMemory();
        requireKey();
        requireFlags();
    }

    static long requireRights(Access... access) { return requireRights(Access.bitsOf(access)); }

    private static long requireRights(long bits) {
        if (bits == 0) { throw new IllegalArgumentException("name at least one access right, such as Access.WRITE"); }
        return bits;
    }

    static void requireLength(long length) {
        if (length < 1) { throw new IllegalArgumentException("a memory region has at least 1 byte, not " + length); }
    }

    /** Checks that no right writes to read-only memory. */
    void requireWritable(MemorySegment memory) {
        if (memory.isReadOnly() && (wanted.accessBits() & ~READING) != 0) {
            throw new IllegalArgumentException(
                    "read-only memory can be registered for WRITE, SEND and REMOTE_READ only, not "
                            + Access.setOf(wanted.accessBits()));
        }
    }

    private void requireMemory() {
        if (wanted.dmaBuf().isPresent()) { requireDmaBuf(wanted.dmaBuf().getAsInt()); }
        if (wanted.isOnDevice()) {
            requireDevice();
            return;
        }
        List<MemorySegment> segments = wanted.segments();
        segments.forEach(this::requireMemory);
        if (segments.size() == 1) { return; }
        if (segments.size() > limits().memoryRegionIovLimit()) {
            throw new IllegalArgumentException(
                    "a region of provider " + provider() + " has at most " + limits().memoryRegionIovLimit()
                            + " segments, not " + segments.size() + ": register several regions");
        }
        if ((wanted.accessBits() & Access.REMOTE) != 0) {
            throw new UnsupportedOperationException("provider " + provider() + " lets peers access only the first of "
                    + segments.size() + " segments, and the memory behind it: register a region for each");
        }
        try {
            segments.stream().mapToLong(MemorySegment::byteSize).reduce(0, Math::addExact);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException("the " + segments.size()
                    + " segments together have more bytes than a long can count: register several regions");
        }
    }

    /** Checks the device: libfabric may end the process where the driver is missing. */
    private void requireDevice() {
        DeviceInterface whose = wanted.deviceInterface();
        requireOffered(Capability.HMEM, "memory of " + whose);
        if (!DeviceDrivers.isInstalled(whose)) {
            throw new UnsupportedOperationException("memory of " + whose + " needs its driver, and "
                    + DeviceDrivers.library(whose) + " is not on this machine");
        }
        long address = wanted.segments().getFirst().address();
        String problem = DeviceDrivers.describeProblem(whose, wanted.device(), address);
        if (!problem.isEmpty()) {
            throw new IllegalArgumentException("the memory at 0x" + Long.toHexString(address) + " " + problem);
        }
        if (!DeviceDrivers.hasMemory(whose, address + wanted.length() - 1)) {
            throw new IllegalArgumentException(
                    "the memory at 0x" + Long.toHexString(address) + " has fewer than " + wanted.length() + " bytes");
        }
        if (domain.quirks.has(Fact.DEVICE_COPIES_END_LATE)) { DeviceDrivers.synchronizeCopies(whose, address); }
    }

    /** Checks the descriptor: some providers take any, and then lose the bytes of peers. */
    private void requireDmaBuf(int descriptor) {
        if (!FabricCalls.supportsDmaBufs()) {
            throw new UnsupportedOperationException(
                    "DMA-bufs need libfabric 2.0 or newer; this is " + Libfabric.load().version());
        }
        requireOffered(Capability.HMEM, "memory of a DMA-buf");
        String problem = DmaBufs.describeProblem(descriptor);
        if (!problem.isEmpty()) { throw new IllegalArgumentException("descriptor " + descriptor + " " + problem); }
        requireInside(wanted.dmaBufOffset(), wanted.length(), DmaBufs.size(descriptor));
    }

    static void requireInside(long offset, long length, long size) {
        if (length > size || offset > size - length) {
            throw new IndexOutOfBoundsException(
                    "the DMA-buf has " + size + " bytes, not " + length + " from offset " + offset);
        }
    }

    private void requireMemory(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "memory on the heap cannot be registered, because the garbage collector moves it:"
                            + " allocate it with Domain.allocate or from an Arena");
        }
        requireLength(memory.byteSize());
        if (memory.address() == 0) { throw new IllegalArgumentException("there is no memory at address 0"); }
        requireWritable(memory);
        requireScope(memory);
        if (!NativeMemory.isReadable(memory.address())) {
            throw new IllegalArgumentException(
                    "this process cannot read the memory at 0x" + Long.toHexString(memory.address())
                            + ": it is not mapped, or is a device's, which MemoryRegionAttributes.ofDevice registers");
        }
    }

    private static void requireScope(MemorySegment memory) {
        if (!memory.scope().isAlive()) { throw new IllegalStateException("the arena of this memory is closed"); }
        if (!memory.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException("the memory belongs to another thread's confined arena:"
                    + " register it on that thread, or allocate it from a shared arena");
        }
    }

    private void requireKey() {
        if (wanted.requestedKey().isEmpty()) { return; }
        if (has(MemoryRegionMode.PROV_KEY)) {
            throw new UnsupportedOperationException(
                    "provider " + provider() + " chooses the keys itself (FI_MR_PROV_KEY): leave out requestedKey");
        }
        long size = limits().keySize();
        if (size < Long.BYTES && wanted.requestedKey().getAsLong() >>> size * Byte.SIZE != 0) {
            throw new IllegalArgumentException("a key of provider " + provider() + " has at most " + size + " bytes");
        }
    }

    private void requireFlags() {
        if (wanted.isPersistent()) { requireOffered(Capability.RMA_PMEM, "persistent memory"); }
        if (wanted.counter().isPresent() && wanted.counter().get().domain() != domain) {
            throw new IllegalArgumentException("the counter belongs to another domain");
        }
        if (wanted.counter().isPresent()) { requireOffered(Capability.RMA_EVENT, "counting what peers write"); }
        if (wanted.endpoint().isPresent() && wanted.endpoint().get().domain != domain) {
            throw new IllegalArgumentException("the region's endpoint belongs to another domain");
        }
    }

    private void requireOffered(Capability capability, String what) {
        if (!domain.info().capabilities().contains(capability)) {
            throw new UnsupportedOperationException(what + " is not offered by the provider " + provider()
                    + ": ask for Capability." + capability + " in FabricHints");
        }
    }

    private String provider() { return domain.info().provider(); }

    private DomainAttributes limits() { return domain.info().domain(); }

    private boolean has(MemoryRegionMode mode) { return limits().memoryRegionMode().contains(mode); }

    /** Registers; the region may still have to be bound and enabled. */
    Handle register() {
        OptionalLong requested = wanted.requestedKey();
        requested.ifPresent(domain.regions.quarantine::freeKey);
        OpenResult out = register(requested.orElseGet(this::randomKey));
        boolean isRandom = requested.isEmpty(); // a random key may be in use: try another
        for (int tried = 1; isRandom && out.status() == -Errno.ENOKEY && tried < KEY_TRIES; tried++) {
            out = register(randomKey());
        }
        if (out.status() == -Errno.ENOSYS && call != Call.ATTRIBUTES) { // some have the general form only
            return new Registration(domain, wanted, Call.ATTRIBUTES).register();
        }
        if (wanted.isOnDevice() && out.status() == -Errno.ENOSYS) {
            throw new UnsupportedOperationException("memory of " + wanted.deviceInterface()
                    + " is not offered here: this libfabric was built without it or does not find its libraries,"
                    + " or the machine has no such device");
        }
        if (wanted.dmaBuf().isPresent() && NO_DMA_BUFS.contains(-out.status())) {
            throw new UnsupportedOperationException("DMA-bufs are not offered by the provider " + provider()
                    + " here: leave dmaBuf out, or use another provider");
        }
        Status.check(out.status(), call.operation, provider());
        if (!isRandom) { requireSameKey(out.handle(), requested.getAsLong()); }
        return out.handle();
    }

    private OpenResult register(long key) {
        boolean isCounted = wanted.counter().isPresent() && has(MemoryRegionMode.RMA_EVENT);
        long flags = (wanted.isPersistent() ? FabricConstants.FI_RMA_PMEM : 0)
                | (wanted.isDeviceOnly() ? FabricConstants.FI_HMEM_DEVICE_ONLY : 0)
                | (isCounted ? FabricConstants.FI_RMA_EVENT : 0);
        List<MemorySegment> segments = wanted.segments();
        long bits = wanted.accessBits();
        if (wanted.isOnDevice() || wanted.dmaBuf().isPresent()) {
            MrOps.DeviceMemory memory = new MrOps.DeviceMemory(wanted.deviceInterface().ordinal(), wanted.device(),
                    segments.getFirst(), wanted.length());
            MrOps.DmaBuf exported = wanted.dmaBuf().isEmpty()
                    ? null
                    : new MrOps.DmaBuf(wanted.dmaBuf().getAsInt(), wanted.dmaBufOffset());
            return MrOps.fi_mr_regattr(domain.handle(), memory, exported, bits, key, flags);
        }
        return switch (call) {
            case ONE -> MrOps.fi_mr_reg(domain.handle(), segments.getFirst(), bits, key, flags);
            case VECTOR -> MrOps.fi_mr_regv(domain.handle(), segments, bits, key, flags);
            case ATTRIBUTES -> MrOps.fi_mr_regattr(domain.handle(), segments, bits, key, flags);
        };
    }

    private void requireSameKey(Handle handle, long key) {
        if (!has(MemoryRegionMode.RAW) && MrOps.fi_mr_key(handle) != key) {
            FidOps.fi_close(handle);
            throw Status.exception(-Errno.EKEYREJECTED, call.operation, provider());
        }
    }

    /** Random, since a key grants access; ignored where the provider chooses the key. */
    private long randomKey() {
        long key = RANDOM.nextLong();
        return limits().keySize() >= Long.BYTES ? key >>> 1 : key & (1L << limits().keySize() * Byte.SIZE) - 1;
    }

    /** Binds and enables a region after its registration, as the provider's mr_mode demands; fi_mr(3). */
    record Binding(MemoryRegion region, Handle handle) {
        /** Binds and enables the region, at once or when its endpoint is enabled. */
        void apply(Optional<Counter> counter, Optional<Endpoint> endpoint) {
            if (counter.isPresent()) {
                Status.checkOffered(counter.get().bindNatively(handle), "fi_mr_bind(counter)", handle.provider());
                counter.get().bind(region);
            }
            enable(counter.isPresent(), endpoint);
        }

        private void enable(boolean isCounted, Optional<Endpoint> endpoint) {
            if (has(MemoryRegionMode.ENDPOINT)) {
                region.domain.regions.bindToEndpoint(region, endpoint.orElse(null));
                return;
            }
            if (isCounted && has(MemoryRegionMode.RMA_EVENT)) {
                Status.check(FidOps.fi_enable(handle), "fi_mr_enable", handle.provider());
            }
            publish();
        }

        /** Binds the region to its endpoint, which is enabled; fi_mr_bind and fi_mr_enable. */
        void bindTo(Endpoint endpoint) {
            Status.check(FidOps.fi_bind(handle, endpoint.handle, 0), "fi_mr_bind", handle.provider());
            Status.check(FidOps.fi_enable(handle), "fi_mr_enable", handle.provider());
            publish();
        }

        private void publish() {
            if (has(MemoryRegionMode.MMU_NOTIFY) && region.kind() != MemoryKind.DEVICE) {
                region.parts().forEach(MemoryRegion::load);
                Status.check(MrOps.fi_mr_refresh(handle, region.segments()), "fi_mr_refresh", handle.provider());
            }
            region.publish(MrOps.fi_mr_desc(handle), has(MemoryRegionMode.RAW) ? null : remote());
        }

        private RemoteRegion remote() {
            long base = has(MemoryRegionMode.VIRT_ADDR) ? region.parts().getFirst().address : 0;
            return new RemoteRegion(base, region.length(), MrOps.fi_mr_key(handle), region.accessBits & Access.REMOTE,
                    region.kind());
        }

        RuntimeException notReachable() {
            return has(MemoryRegionMode.RAW)
                    ? new UnsupportedOperationException("provider " + handle.provider()
                            + " has raw keys (FI_MR_RAW): send rawKey() to the peer, which calls Domain.mapRawKey")
                    : new IllegalStateException("provider " + handle.provider()
                            + " ties regions to endpoints (FI_MR_ENDPOINT): enable one first");
        }

        private boolean has(MemoryRegionMode mode) {
            return region.domain.info().domain().memoryRegionMode().contains(mode);
        }
    }
}
