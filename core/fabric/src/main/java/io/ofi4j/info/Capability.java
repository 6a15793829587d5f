package io.ofi4j.info;

import java.util.Set;

/** What an endpoint can do; the capability bits of fi_getinfo(3). */
public enum Capability {
    /** Messages to posted receives. */
    MSG(1),
    /** One-sided reads and writes. */
    RMA(2),
    /** Messages matched by tag. */
    TAGGED(3),
    /** Atomic operations on a peer's memory. */
    ATOMIC(4),
    /** Multicast groups: {@link io.ofi4j.Endpoint#joinMulticast}. */
    MULTICAST(5),
    /** Collective operations. */
    COLLECTIVE(6),
    /** Initiating RMA reads and fetching atomics. */
    READ(8),
    /** Initiating RMA writes and atomics. */
    WRITE(9),
    /** Receiving messages. */
    RECV(10),
    /** Sending messages. */
    SEND(11),
    /** Target of reads. */
    REMOTE_READ(12),
    /** Target of writes. */
    REMOTE_WRITE(13),
    /** One posted buffer takes several messages. */
    MULTI_RECV(16),
    /** Operations that start when a counter reaches a value. */
    TRIGGER(20),
    /** Operations that wait for earlier ones to the same peer. */
    FENCE(21),
    /**
     * Address vectors whose entries carry a number chosen by the application: {@link io.ofi4j.AddressVector#userId}.
     */
    AV_USER_ID(41),
    /** Serving as a peer provider. */
    PEER(43),
    /** Directed receives for tagged messages only (libfabric 2.0 and newer). */
    TAGGED_DIRECTED_RECV(45, 2),
    /** Multi-receive for tagged messages (libfabric 2.0 and newer). */
    TAGGED_MULTI_RECV(46, 2),
    /** Transfers to and from device memory. */
    HMEM(47),
    /** Directed receives that match exactly one source (libfabric 2.0 and newer). */
    EXACT_DIRECTED_RECV(48, 2),
    /** Completions after data has reached persistent memory. */
    RMA_PMEM(49),
    /** Source addresses in error completions. Hardly any provider has it. */
    SOURCE_ERR(50),
    /** Communication within one node. */
    LOCAL_COMM(51),
    /** Communication between nodes. */
    REMOTE_COMM(52),
    /** Address vectors shared between processes. */
    SHARED_AV(53),
    /** Counters of remote accesses on a region. */
    RMA_EVENT(56),
    /** Source addresses in completions. */
    SOURCE(57),
    /** Addressing one of several receive contexts of a peer. */
    NAMED_RX_CTX(58),
    /** Receiving from a chosen peer only. */
    DIRECTED_RECV(59);

    private final long bit;
    private final int sinceMajor;

    Capability(int shift) { this(shift, 1); }

    Capability(int shift, int sinceMajor) {
        this.bit = 1L << shift;
        this.sinceMajor = sinceMajor;
    }

    /** {@return libfabric's bit for it} */
    public long bit() { return bit; }

    /**
     * {@return the capabilities whose bits are set, for this version of libfabric: some bits changed meaning with 2.0}
     */
    public static Set<Capability> setOf(long bits, Version runtime) {
        return Constants.subset(Capability.class, one -> (bits & one.bit) != 0 && one.isKnownTo(runtime));
    }

    /** {@return whether this version of libfabric knows it} */
    public boolean isKnownTo(Version runtime) {
        return runtime.major() >= sinceMajor;
    }
}
