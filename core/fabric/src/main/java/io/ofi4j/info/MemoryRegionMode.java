package io.ofi4j.info;

import java.util.Set;

/**
 * What a provider demands of memory registration; the mr_mode bits of fi_mr(3). {@link io.ofi4j.MemoryRegion} and
 * {@link io.ofi4j.Rma} do what the handled modes demand. ofi4j never agrees to the other modes, so a provider that
 * needs one of them is not found. The modes of libfabric before 1.5 are not here: SCALABLE is the absence of all modes,
 * and BASIC is VIRT_ADDR, ALLOCATED and PROV_KEY.
 */
public enum MemoryRegionMode {
    /** Local buffers must be registered. In ofi4j every buffer is. */
    LOCAL(1 << 2, true),
    /** Keys are longer than 64 bits; see {@link io.ofi4j.MemoryRegion#rawKey} and {@link io.ofi4j.Domain#mapRawKey}. */
    RAW(1 << 3, true),
    /**
     * Peers name bytes of a region by virtual address, not by offset. A {@link io.ofi4j.RemoteRegion} contains the base
     * to use.
     */
    VIRT_ADDR(1 << 4, true),
    /** Registered memory must be backed by physical pages. */
    ALLOCATED(1 << 5, true),
    /** The provider chooses the keys; none can be requested. */
    PROV_KEY(1 << 6, true),
    /**
     * The provider must be told of the pages of a region: at registration, and after changes with
     * {@link io.ofi4j.MemoryRegion#refresh}.
     */
    MMU_NOTIFY(1 << 7, true),
    /**
     * Regions that count remote accesses are bound to a counter and enabled; see
     * {@link io.ofi4j.MemoryRegionAttributes#countedBy}.
     */
    RMA_EVENT(1 << 8, true),
    /** A region belongs to one endpoint, the domain's first or the named one, and is closed before it. */
    ENDPOINT(1 << 9, true),
    /** Device memory is registered with its kind; see {@link io.ofi4j.MemoryRegionAttributes#ofDevice}. */
    HMEM(1 << 10, true),
    /** Buffers of collectives must be registered for them. Not handled: no provider that was tried needs it. */
    COLLECTIVE(1 << 11, false);

    private final int bit;
    private final boolean handled;

    MemoryRegionMode(int bit, boolean handled) {
        this.bit = bit;
        this.handled = handled;
    }

    /** {@return whether ofi4j does what the mode demands; providers with other demands are not found} */
    public boolean isHandled() {
        return handled;
    }

    /** {@return libfabric's bit for it} */
    public int bit() { return bit; }

    /** {@return the modes whose bits are set in this mr_mode; unknown bits are left out} */
    public static Set<MemoryRegionMode> setOf(int bits) {
        return Constants.subset(MemoryRegionMode.class, mode -> (bits & mode.bit) != 0);
    }
}
