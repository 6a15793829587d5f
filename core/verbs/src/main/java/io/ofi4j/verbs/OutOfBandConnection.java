package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.QueuePairCalls;
import io.ofi4j.verbs.internal.Rollback;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;

/** Makes and connects a queue pair without rdma_cm. */
final class OutOfBandConnection {
    private static final int RECEIVER_TIMER = 12; // 0.64 ms
    private static final String PREFERRED_TYPE = "RoCE v2";
    private static final String IPV4_PREFIX = "00000000000000000000ffff";
    private static final int MIN_MTU = 128;

    private static final int SEQUENCES = 1 << 24;

    private final DeviceContext context;
    private final QueuePairAttributes attributes;
    private final int sequence;
    private final PortAttributes port;
    private final Gid gid;

    OutOfBandConnection(DeviceContext context, QueuePairAttributes attributes, int sequence) {
        context.requireNotIwarp("connections out of band: use Verbs.resolve and Verbs.listen");
        this.context = context;
        this.attributes = attributes;
        this.sequence = sequence;
        this.port = context.port(attributes.port());
        this.gid = choose(port.gids());
    }

    /** {@return the number of the first packet} */
    static int sequence() {
        return (int) (System.nanoTime() & SEQUENCES - 1);
    }

    private Gid choose(List<Gid> gids) {
        Comparator<Gid> byType = Comparator.comparing(one -> one.type().equals(PREFERRED_TYPE));
        return gids.stream().filter(one -> attributes.gidIndex() < 0 || one.index() == attributes.gidIndex())
                .max(byType.thenComparing(one -> one.hex().startsWith(IPV4_PREFIX)))
                .orElseThrow(() -> new IllegalArgumentException("port " + port.number() + " of " + context.name()
                        + " has no address" + (attributes.gidIndex() < 0 ? "" : " at index " + attributes.gidIndex())));
    }

    /** {@return a new queue pair, ready for receives} */
    MemorySegment create(ProtectionDomain domain) {
        QueuePairCalls.Sizes sizes = attributes.nativeSizes();
        if (attributes.xrc()) {
            context.require(DeviceCapability.XRC, "a queue pair of XRC");
            return initialized(() -> QueuePairCalls.createXrcSender(domain.pointer, sizes));
        }
        return initialized(() -> attributes.blockLoopback()
                ? QueuePairCalls.createBlockingLoopback(context.extended, domain.pointer, sizes)
                : QueuePairCalls.ibv_create_qp(domain.pointer, sizes));
    }

    MemorySegment initialized(Supplier<MemorySegment> creation) {
        MemorySegment made = creation.get();
        return Rollback.ifFails(() -> QueuePairCalls.ibv_destroy_qp(made), () -> {
            boolean hasAtomics = context.attributes().atomics() != DeviceAttributes.AtomicSupport.NONE;
            QueuePairCalls.initialize(made, attributes.port(),
                    VerbsAccess.REMOTE & ~(hasAtomics ? 0 : VerbsAccess.REMOTE_ATOMIC.bit()));
            return made;
        });
    }

    QueuePairAddress address(int number) {
        return new QueuePairAddress(number, sequence, port.lid(), port.mtu(), gid.hex());
    }

    /** Moves it to the state in which operations can be posted. */
    void connect(MemorySegment pointer, QueuePairAddress peer) {
        QueuePairCalls.Path path = path(peer);
        QueuePairCalls.readyToReceive(pointer, path, !attributes.xrc());
        QueuePairCalls.readyToSend(pointer, path);
    }

    /** Moves it to the state in which a peer's operations are answered. */
    void answer(MemorySegment pointer, QueuePairAddress peer) {
        QueuePairCalls.readyToReceive(pointer, path(peer), true);
    }

    private QueuePairCalls.Path path(QueuePairAddress peer) {
        DeviceAttributes limits = context.attributes();
        int mtu = Math.min(port.mtu(), peer.mtu());
        boolean isGlobal = port.linkLayer() != PortAttributes.LinkLayer.INFINIBAND || peer.lid() == 0;
        return new QueuePairCalls.Path(attributes.port(), gid.index(), isGlobal, HexFormat.of().parseHex(peer.gid()),
                peer.lid(), peer.number(), sequence, peer.sequence(), Integer.numberOfTrailingZeros(mtu / MIN_MTU),
                Math.min(attributes.reads(), limits.maximumReadsAsTarget()),
                Math.min(attributes.reads(), limits.maximumReadsAsInitiator()), attributes.timeout(),
                attributes.retries(), attributes.receiverRetries(), RECEIVER_TIMER);
    }
}
