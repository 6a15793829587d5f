package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.job.Rendezvous;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A server and a client without a connection: the client reads the server's memory, and writes an answer into it. */
public final class UnconnectedPair {
    private static final Duration SOON = Duration.ofSeconds(20);
    private UnconnectedPair() {}

    /** Arguments: the provider, and for the client the server's host, and the port and the secret that it printed. */
    public static void main(String[] arguments) {
        if (arguments.length != 1 && arguments.length != 4) {
            System.err.println("usage: UnconnectedPair PROVIDER [HOST PORT SECRET]");
            System.exit(2);
        }
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(64, Access.values());
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                ProgressThread _ = domain.startProgress()) { // serves the peer while this thread waits
            if (arguments.length == 1) {
                serve(endpoint, memory);
            } else {
                talk(new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2])), arguments[3], endpoint, peers,
                        queue, memory);
            }
        }
    }

    // @start region=pair
    private static void serve(Endpoint endpoint, MemoryRegion memory) {
        memory.segment().setString(0, "Hello from process " + ProcessHandle.current().pid());
        String secret = Rendezvous.newSecret();
        try (Rendezvous rendezvous = Rendezvous.serve(new InetSocketAddress(0), secret)) {
            System.out.println("serving at port " + rendezvous.address().getPort() + " with secret " + secret);
            rendezvous.publish("address", endpoint.address());
            rendezvous.publish("memory", memory.remote());
            rendezvous.await("done", Duration.ofMinutes(5));
            System.out.println("the client wrote: " + memory.segment().getString(0));
        }
    }

    private static void talk(InetSocketAddress server, String secret, Endpoint endpoint, AddressVector peers,
            CompletionQueue queue, MemoryRegion memory) {
        try (Rendezvous rendezvous = Rendezvous.join(server, secret, SOON)) {
            Peer peer = peers.insert(rendezvous.awaitAddress("address", SOON));
            RemoteRegion remote = rendezvous.awaitRegion("memory", SOON);
            MemoryRegion.Slice all = memory.slice(0, 64);
            endpoint.rma().read(all, peer, remote, 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("the server says: " + memory.segment().getString(0));
            memory.segment().setString(0, "thank you");
            endpoint.rma().write(all, peer, remote, 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            rendezvous.publish("done", new byte[0]); // the answer is there: the hints ask for completions that say so
        }
    }
    // @end
}
