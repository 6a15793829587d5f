package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.FabricException;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Writes to a port that lets nobody in, and prints the longest pause of another thread, which stops at safepoints. */
final class SilentPeer {
    private static final int BACKLOG = 1;

    private SilentPeer() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        ServerSocket silent = new ServerSocket(0, BACKLOG, null);
        while (isLetIn(silent)) {
        } // until as many wait as there is room for
        Fabric fabric = Libfabric.load().openFabric(TestProviders.info(TestProviders.hints(arguments[0])));
        Domain domain = fabric.openDomain();
        CompletionQueue queue = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        MemoryRegion region = domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE);
        Peer peer = vector.insert(EndpointAddress.of(new InetSocketAddress("127.0.0.1", silent.getLocalPort())));
        AtomicLong longest = watchPauses();
        long start = System.nanoTime();
        try {
            System.out.println("posted: " + endpoint.rma().tryWrite(region, 0, 8, peer, region.remote(), 0, 1));
        } catch (FabricException e) {
            System.out.println("refused: " + e.getMessage());
        }
        System.out.println("the post took " + (System.nanoTime() - start) / 1_000_000 + " ms");
        Thread.sleep(500); // the other thread looks at its clock again
        System.out.println("longest pause: " + longest.get() / 1_000_000 + " ms");
        Runtime.getRuntime().halt(0); // closing would wait for the write
    }

    private static boolean isLetIn(ServerSocket server) throws IOException {
        try {
            new Socket().connect(server.getLocalSocketAddress(), 300);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    private static AtomicLong watchPauses() {
        AtomicLong longest = new AtomicLong();
        Thread.ofPlatform().daemon().start(() -> {
            for (long last = System.nanoTime();;) {
                Thread.getAllStackTraces(); // at a safepoint
                long now = System.nanoTime();
                longest.accumulateAndGet(now - last, Math::max);
                last = now;
            }
        });
        return longest;
    }
}
