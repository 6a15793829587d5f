package io.ofi4j;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a provider demands of registrations; the mr_mode bits of fi_mr(3). {@link MemoryRegion} and {@link Rma} meet these
 * demands by themselves, so they matter only to who wants to know.
 */
public enum MemoryRegionMode {
    /** Local buffers must be registered too. */
    LOCAL(1 << 2),
    /** Keys are longer than 64 bits. Not asked for by this release, so no provider that needs it is found. */
    RAW(1 << 3),
    /** Peers address a region by virtual address, not by offset. */
    VIRT_ADDR(1 << 4),
    /** Registered memory must be backed by physical pages. */
    ALLOCATED(1 << 5),
    /** The provider chooses the keys. */
    PROV_KEY(1 << 6),
    /** The provider must be told of changed mappings. Not asked for by this release. */
    MMU_NOTIFY(1 << 7),
    /** Regions that count remote accesses are bound and enabled. Not asked for by this release. */
    RMA_EVENT(1 << 8),
    /** Regions belong to one endpoint. Not asked for by this release, so no provider that needs it is found. */
    ENDPOINT(1 << 9),
    /** Device memory is registered with its kind. Not asked for by this release. */
    HMEM(1 << 10),
    /** Buffers of collectives must be registered. Not asked for by this release. */
    COLLECTIVE(1 << 11);

    /** What this release handles. */
    static final int HANDLED = LOCAL.bit | VIRT_ADDR.bit | ALLOCATED.bit | PROV_KEY.bit;

    private final int bit;

    MemoryRegionMode(int bit) {
        this.bit = bit;
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
