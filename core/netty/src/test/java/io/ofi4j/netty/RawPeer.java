package io.ofi4j.netty;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Who has the secret and an endpoint, and sends what it likes. */
final class RawPeer implements AutoCloseable {
    static final Frames.Target OWN = new Frames.Target(1, 0x0123456789ABCDEFL);
    private static final int LENGTH = 4096;
    private static final int RECEIVES = 64;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final MemoryRegion incoming;
    private final MemoryRegion outgoing;
    private final List<Peer> peers = new ArrayList<>();

    RawPeer(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(TestProviders.hints(provider).addCapabilities(Capability.MSG)
                .attributes(AttributeHints.none().messageOrder(MessageOrder.SAS))).getFirst();
        Fabric fabric = opened(libfabric.openFabric(info));
        Domain domain = opened(fabric.openDomain());
        queue = opened(domain.openCompletionQueue());
        vector = opened(domain.openAddressVector());
        incoming = opened(domain.allocate(RECEIVES * LENGTH, Access.RECEIVE));
        outgoing = opened(domain.allocate(LENGTH, Access.SEND));
        endpoint = opened(domain.openEndpoint().bind(queue).bind(vector).enable());
        for (int i = 0; i < RECEIVES; i++) {
            endpoint.messages().receive(incoming.slice(i * LENGTH, LENGTH), 0);
        }
    }

    private <T extends AutoCloseable> T opened(T object) {
        open.push(object);
        return object;
    }

    PeerHello hello() {
        return PeerHello.of(endpoint)
                .withData(new Frames.Greeting(OWN, LENGTH, FabricLoop.WINDOW, new byte[0]).encode());
    }

    /** A channel of a server, and where messages to it go. */
    record Joined(Peer peer, Frames.Target target) {}

    Joined connect(InetSocketAddress server) throws FabricProtocolException {
        PeerLink link = opened(PeerLink.connect(server, FabricLoops.SECRET, hello(), Pair.DEADLINE));
        return meet(link.hello());
    }

    /** Knows a channel that has come to {@link #listen}, and waits to be accepted. */
    Joined meet(PeerHello hello) throws FabricProtocolException {
        Peer peer = vector.insert(hello.address());
        peers.add(peer);
        return new Joined(peer, Frames.Greeting.decode(hello.data()).target());
    }

    PeerServer listen() { return opened(PeerServer.listen(FabricLoops.ANY_PORT, FabricLoops.SECRET)); }

    void send(Joined to, int kind, int count, byte... bytes) { send(to.peer, to.target, kind, count, bytes); }

    void send(Peer peer, Frames.Target target, int kind, int count, byte... bytes) {
        Frames.write(outgoing.segment(), 0, target, kind, count);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, outgoing.segment(), Frames.HEADER, bytes.length);
        sendBytes(peer, Frames.HEADER + bytes.length);
    }

    /** Sends what stands in memory, whatever it is. */
    void sendBytes(Peer peer, int length) {
        boolean[] sent = new boolean[1];
        endpoint.messages().send(outgoing.slice(0, length), peer, 1);
        Waiting.YIELD.until(() -> {
            queue.poll((token, _, _, _) -> sent[0] |= token == 1, 1);
            return sent[0];
        }, Pair.DEADLINE);
    }

    /** Waits as an endpoint has to, so that others can reach it. */
    <T> T await(CompletableFuture<T> future) {
        Waiting.YIELD.until(() -> {
            queue.poll((_, _, _, _) -> {}, 1);
            return future.isDone();
        }, Pair.DEADLINE);
        return future.join();
    }

    @Override
    public void close() {
        for (AutoCloseable object : open) {
            try {
                object.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
