package io.ofi4j.verbs;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The rights of a region or a window, and how it is registered; the flags of ibv_reg_mr(3). Local reading is always
 * allowed.
 */
public enum VerbsAccess {
    /** The region receives messages and the results of reads and fetches. Rights of peers to write need it too. */
    LOCAL_WRITE(1),
    /** Peers that know the key may write. */
    REMOTE_WRITE(1 << 1),
    /** Peers that know the key may read. */
    REMOTE_READ(1 << 2),
    /** Peers that know the key may use atomic operations. */
    REMOTE_ATOMIC(1 << 3),
    /** Windows may be bound to it. */
    WINDOW_BIND(1 << 4),
    /** The first byte has the address 0 for peers. The memory must begin at a page. */
    ZERO_BASED(1 << 5),
    /** On-demand paging: pages are not locked, but loaded when a transfer needs them. */
    ON_DEMAND(1 << 6),
    /** Every page is a huge page. */
    HUGE_PAGES(1 << 7),
    /** The bus may reorder writes. Devices without the feature ignore this. */
    RELAXED_ORDERING(1 << 20);

    static final int REMOTE = REMOTE_WRITE.bit | REMOTE_READ.bit | REMOTE_ATOMIC.bit;
    static final int REMOTE_CHANGES = REMOTE_WRITE.bit | REMOTE_ATOMIC.bit;

    private final int bit;

    VerbsAccess(int bit) { this.bit = bit; }

    /** {@return the flag of verbs.h} */
    public int bit() { return bit; }

    static int bits(VerbsAccess... rights) {
        return Arrays.stream(rights).mapToInt(VerbsAccess::bit).reduce(0, (one, other) -> one | other);
    }

    static Set<VerbsAccess> setOf(int bits) {
        Set<VerbsAccess> set = EnumSet.allOf(VerbsAccess.class);
        set.removeIf(access -> (bits & access.bit) == 0);
        return Collections.unmodifiableSet(set);
    }

    static String names(int bits) {
        return setOf(bits).stream().map(VerbsAccess::name).collect(Collectors.joining(", "));
    }
}
