package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Connection;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A server and a client over a connection: the server sends its region with its acceptance, and the client writes into
 * it.
 */
public final class ConnectedPair {
    private static final Duration DEADLINE = Duration.ofSeconds(20);
    private ConnectedPair() {}

    /** Arguments: {@code server} or {@code client}, the provider, the server's host and its port. */
    public static void main(String[] arguments) {
        if (arguments.length != 4) {
            System.err.println("usage: ConnectedPair server|client PROVIDER HOST PORT");
            System.exit(2);
        }
        boolean isServer = arguments[0].equals("server");
        FabricHints hints = FabricHints.connected().provider(arguments[1])
                .operationFlags(OperationFlag.DELIVERY_COMPLETE); // a completion says that the peer has the bytes
        hints = isServer ? hints.source(arguments[2], arguments[3]) : hints.destination(arguments[2], arguments[3]);
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                EventQueue events = fabric.openEventQueue();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion memory = domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
            if (isServer) {
                serve(fabric, domain, events, queue, memory);
            } else {
                talk(domain, events, queue, memory,
                        new InetSocketAddress(arguments[2], Integer.parseInt(arguments[3])));
            }
        }
    }

    // @start region=pair
    private static void serve(Fabric fabric, Domain domain, EventQueue events, CompletionQueue queue,
            MemoryRegion memory) {
        try (PassiveEndpoint listener = fabric.openPassiveEndpoint(domain.info()).bind(events).listen()) {
            System.out.println("serving at " + listener.address());
            Event.ConnectionRequested asked = (Event.ConnectionRequested) events.read(Duration.ofDays(1));
            try (Endpoint endpoint = domain.openEndpoint(asked.request()).bind(events).bind(queue).enable()) {
                endpoint.connection().accept(DEADLINE, memory.remote().encode());
                Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {
                    System.out.println("message " + data + " of the client: " + memory.segment().getString(0));
                }, 1) > 0, DEADLINE); // reports the client's write, because that carries data
            }
        }
    }

    private static void talk(Domain domain, EventQueue events, CompletionQueue queue, MemoryRegion memory,
            InetSocketAddress address) {
        try (Endpoint endpoint = domain.openEndpoint().bind(events).bind(queue).enable()) {
            Connection connection = endpoint.connection();
            RemoteRegion remote = RemoteRegion.decode(connection.connect(EndpointAddress.of(address), DEADLINE));
            memory.segment().setString(0, "Hello from process " + ProcessHandle.current().pid());
            endpoint.rma().writeData(memory.slice(0, 64), 7, connection.peer(), remote, 42);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, DEADLINE);
            System.out.println("the server has the message");
        }
    }
    // @end
}
