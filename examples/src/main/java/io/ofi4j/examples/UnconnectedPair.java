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
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

/** A server and a client without a connection: the client reads the server's memory, and writes an answer into it. */
public final class UnconnectedPair {
    private UnconnectedPair() {}
    /**
     * Runs the server, or with a host and a port the client.
     *
     * @param arguments the provider, and for the client the server's host and the port that it printed
     * @throws IOException if the two have no TCP connection, over which the server sends its address
     */
    public static void main(String[] arguments) throws IOException {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(64, Access.values());
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            domain.startProgress(); // serves the peer while this thread waits for the socket
            if (arguments.length == 1) {
                serve(endpoint, memory);
                return;
            }
            try (Socket server = new Socket(arguments[1], Integer.parseInt(arguments[2]))) {
                talk(server, endpoint, peers, queue, memory);
            }
        }
    }

    // @start region=pair
    private static void serve(Endpoint endpoint, MemoryRegion memory) throws IOException {
        memory.segment().setString(0, "Hello from process " + ProcessHandle.current().pid());
        try (ServerSocket listener = new ServerSocket(0)) {
            System.out.println("serving at port " + listener.getLocalPort());
            try (Socket client = listener.accept()) {
                client.getOutputStream().write(memory.remote().encode());
                client.getOutputStream().write(endpoint.address().encode());
                client.shutdownOutput();
                client.getInputStream().read(); // the client says that it is done
                System.out.println("the client wrote: " + memory.segment().getString(0));
            }
        }
    }

    private static void talk(Socket server, Endpoint endpoint, AddressVector peers, CompletionQueue queue,
            MemoryRegion memory) throws IOException {
        RemoteRegion remote = RemoteRegion.decode(server.getInputStream().readNBytes(RemoteRegion.ENCODED_LENGTH));
        Peer peer = peers.insert(EndpointAddress.decode(server.getInputStream().readAllBytes()));
        endpoint.rma().read(memory, 0, 64, peer, remote, 0, 1);
        Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, Duration.ofSeconds(20));
        System.out.println("the server says: " + memory.segment().getString(0));
        memory.segment().setString(0, "thank you");
        endpoint.rma().write(memory, 0, 64, peer, remote, 0, 2);
        Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, Duration.ofSeconds(20));
        server.getOutputStream().write(1); // the answer is there: the hints ask for completions that say so
    }
    // @end
}
