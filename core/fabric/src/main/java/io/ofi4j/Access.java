package io.ofi4j;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** The rights of a memory region; the access flags of fi_mr(3). */
public enum Access {
    /** The region receives what a read of this process fetches. */
    READ(1L << 8),
    /** The region is the source of writes of this process. */
    WRITE(1L << 9),
    /** The region receives messages. */
    RECEIVE(1L << 10),
    /** The region is the source of messages. */
    SEND(1L << 11),
    /** Peers that know the key may read the region. */
    REMOTE_READ(1L << 12),
    /** Peers that know the key may write to the region. */
    REMOTE_WRITE(1L << 13);

    static final long REMOTE = REMOTE_READ.bit | REMOTE_WRITE.bit;
    static final long ALL = bitsOf(values());

    private final long bit;

    Access(long bit) { this.bit = bit; }

    /** {@return libfabric's flag for this right} */
    public long bit() { return bit; }

    /**
     * {@return the rights whose flags are set; other flags are ignored}
     *
     * @param bits flags of fi_mr(3)
     */
    public static Set<Access> setOf(long bits) {
        Set<Access> set = EnumSet.allOf(Access.class);
        set.removeIf(access -> (bits & access.bit) == 0);
        return Collections.unmodifiableSet(set);
    }

    static long bitsOf(Access... rights) {
        return Arrays.stream(rights).mapToLong(Access::bit).reduce(0, (one, other) -> one | other);
    }
}
