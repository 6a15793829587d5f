package io.ofi4j.info;

import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.RawKey;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a provider demands of registrations; the mr_mode bits of fi_mr(3). {@link MemoryRegion} and {@link Rma} meet those that
 * are handled by themselves; those that are not are never agreed to, so that a provider which needs one is not found. Of the
 * modes of libfabric before 1.5, none set is SCALABLE, and BASIC is VIRT_ADDR, ALLOCATED and PROV_KEY.
 */
public enum MemoryRegionMode {
    /** Local buffers must be registered too. So is every buffer here. */
    LOCAL(1 << 2, true),
    /** Keys are longer than 64 bits; see {@link MemoryRegion#rawKey} and {@link Domain#mapRawKey}. */
    RAW(1 << 3, true),
    /** Peers address a region by virtual address, not by offset. A {@link RemoteRegion} knows which. */
    VIRT_ADDR(1 << 4, true),
    /** Registered memory must be backed by physical pages. So it is when it was allocated, and stays. */
    ALLOCATED(1 << 5, true),
    /** The provider chooses the keys. A {@link RemoteRegion} has them; none can be requested. */
    PROV_KEY(1 << 6, true),
    /** The provider must be told of the pages behind a region. It is when one is registered; then {@link MemoryRegion#refresh}. */
    MMU_NOTIFY(1 << 7, true),
    /** Regions that count remote accesses are bound to a counter and enabled; see {@link MemoryRegionAttributes#countedBy}. */
    RMA_EVENT(1 << 8, true),
    /** Regions belong to one endpoint: the domain's first, or the one named; they are closed before it. */
    ENDPOINT(1 << 9, true),
    /** Device memory is registered with its kind. Not handled: this release has no device memory. */
    HMEM(1 << 10, false),
    /** Buffers of collectives must be registered for them. Not handled: this release has no collectives. */
    COLLECTIVE(1 << 11, false);

    private final int bit;
    private final boolean handled;

    MemoryRegionMode(int bit, boolean handled) {
        this.bit = bit;
        this.handled = handled;
    }

    /** {@return whether this release meets the demand; if not, it does not find providers that make it} */
    public boolean isHandled() {
        return handled;
    }

    /** {@return libfabric's bit for it} */
    public int bit() {
        return bit;
    }

    /**
     * {@return the modes whose bits are set, other bits left out}
     *
     * @param bits mr_mode
     */
    public static Set<MemoryRegionMode> setOf(int bits) {
        Set<MemoryRegionMode> set = EnumSet.noneOf(MemoryRegionMode.class);
        for (MemoryRegionMode mode : values()) {
            if ((bits & mode.bit) != 0) {
                set.add(mode);
            }
        }
        return Collections.unmodifiableSet(set);
    }
}
