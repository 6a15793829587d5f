package io.ofi4j.faults;

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
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes to a port that lets nobody in, and prints how often another thread could bring the JVM to a safepoint while
 * the post took long; a post that is over at once is in nobody's way.
 */
final class SilentPeer {
    private static final int BACKLOG = 1;
    /** In less, a thread that waits for a processor might not have come to one. */
    private static final Duration LONG = Duration.ofSeconds(5);

    private SilentPeer() {}

    public static void main(String[] arguments) throws IOException {
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
        AtomicLong safepoints = countSafepoints();
        Waiting.YIELD.until(() -> safepoints.get() > 0, Pair.DEADLINE);
        long before = safepoints.get();
        long start = System.nanoTime();
        try {
            System.out.println("posted: " + endpoint.rma().tryWrite(region, 0, 8, peer, region.remote(), 0, 1));
        } catch (FabricException e) {
            System.out.println("refused: " + e.getMessage());
        }
        boolean tookLong = System.nanoTime() - start > LONG.toNanos();
        System.out.println("safepoints: " + (tookLong ? safepoints.get() - before : "needless"));
        Runtime.getRuntime().halt(0); // closing would wait for the write
    }

    private static boolean isLetIn(ServerSocket server) throws IOException {
        try {
            new Socket().connect(new InetSocketAddress("127.0.0.1", server.getLocalPort()), 300);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    private static AtomicLong countSafepoints() {
        AtomicLong count = new AtomicLong();
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                Thread.getAllStackTraces(); // at a safepoint
                count.incrementAndGet();
            }
        });
        return count;
    }
}
