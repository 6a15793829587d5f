package io.ofi4j.verbs;

import io.ofi4j.internal.verbs.QueuePairCalls;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/** How a queue pair without rdma_cm is made and connected. */
final class QueuePairByHand {
    private static final int RECEIVER_TIMER = 12; // 0.64 ms
    private static final String BEST = "RoCE v2";
    private static final String OF_IPV4 = "00000000000000000000ffff";
    private static final int SMALLEST_MTU = 128;

    private final ProtectionDomain domain;
    private final QueuePairAttributes attributes;
    private final int sequence;
    private final PortAttributes port;
    private final Gid gid;

    QueuePairByHand(ProtectionDomain domain, QueuePairAttributes attributes, int sequence) {
        this.domain = domain;
        this.attributes = attributes;
        this.sequence = sequence;
        this.port = domain.context.port(attributes.port());
        this.gid = choose(port.gids());
    }

    private Gid choose(List<Gid> gids) {
        Comparator<Gid> worst = Comparator.comparing(one -> one.type().equals(BEST));
        return gids.stream().filter(one -> attributes.gidIndex() < 0 || one.index() == attributes.gidIndex())
                .max(worst.thenComparing(one -> one.hex().startsWith(OF_IPV4)))
                .orElseThrow(() -> new IllegalArgumentException("port " + port.number() + " of " + domain.context.name()
                        + " has no address" + (attributes.gidIndex() < 0 ? "" : " at index " + attributes.gidIndex())));
    }

    /** Made, and ready for receives. */
    MemorySegment create() {
        QueuePairCalls.Sizes sizes = QueuePair.sizes(attributes);
        MemorySegment made = attributes.blockLoopback()
                ? QueuePairCalls.createBlockingLoopback(domain.context.extended, domain.pointer, sizes)
                : QueuePairCalls.ibv_create_qp(domain.pointer, sizes);
        try {
            boolean hasAtomics = domain.context.attributes().atomics() != DeviceAttributes.AtomicSupport.NONE;
            QueuePairCalls.initialize(made, attributes.port(),
                    VerbsAccess.REMOTE & ~(hasAtomics ? 0 : VerbsAccess.REMOTE_ATOMIC.bit()));
            return made;
        } catch (Throwable t) {
            QueuePairCalls.ibv_destroy_qp(made);
            throw t;
        }
    }

    QueuePairAddress address(int number) {
        return new QueuePairAddress(number, sequence, port.lid(), port.mtu(), gid.hex());
    }

    void connect(MemorySegment pointer, QueuePairAddress peer) {
        int reads = Math.min(attributes.reads(), domain.context.attributes().maximumReadsAsTarget());
        int mtu = Math.min(port.mtu(), peer.mtu());
        boolean isGlobal = port.linkLayer() != PortAttributes.LinkLayer.INFINIBAND || peer.lid() == 0;
        QueuePairCalls.Path path = new QueuePairCalls.Path(attributes.port(), gid.index(), isGlobal,
                HexFormat.of().parseHex(peer.gid()), peer.lid(), peer.number(), sequence, peer.sequence(),
                Integer.numberOfTrailingZeros(mtu / SMALLEST_MTU), reads, attributes.timeout(), attributes.retries(),
                attributes.receiverRetries(), RECEIVER_TIMER);
        QueuePairCalls.readyToReceive(pointer, path);
        QueuePairCalls.readyToSend(pointer, path);
    }
}
