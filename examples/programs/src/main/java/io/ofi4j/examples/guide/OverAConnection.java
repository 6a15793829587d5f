package io.ofi4j.examples.guide;

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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A server accepts a connection and sends its region with the acceptance; the client writes into that region. */
public final class OverAConnection {
    private static final Duration SOON = Duration.ofSeconds(10);

    private OverAConnection() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.connected().provider("tcp").source("127.0.0.1", null);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                EventQueue arrivals = fabric.openEventQueue();
                PassiveEndpoint listener = fabric.openPassiveEndpoint(fabric.info()).bind(arrivals).listen()) {
            EndpointAddress address = listener.address();
            CompletableFuture<Void> client = CompletableFuture.runAsync(() -> connect(address));
            serve(fabric, arrivals);
            client.join();
        }
    }

    private static void serve(Fabric fabric, EventQueue arrivals) {
        Event.ConnectionRequested arrival = (Event.ConnectionRequested) arrivals.read(SOON);
        try (Domain domain = fabric.openDomain(arrival.request().info());
                EventQueue events = fabric.openEventQueue();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion inbox = domain.allocate(64, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint(arrival.request()).bind(events).bind(queue).enable()) {
            endpoint.connection().accept(SOON, inbox.remote().encode());
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {
                System.out.println("number " + data + " has come: " + inbox.segment().getString(0));
            }, 1) > 0, SOON); // a write with data is reported to its target
        }
    }

    private static void connect(EndpointAddress address) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.connected().provider("tcp").operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                EventQueue events = fabric.openEventQueue();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion outbox = domain.allocate(64, Access.WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(events).bind(queue).enable()) {
            Connection connection = endpoint.connection();
            RemoteRegion remote = RemoteRegion.decode(connection.connect(address, SOON));
            outbox.segment().setString(0, "Hello, server");
            endpoint.rma().writeData(outbox.slice(0, 64), 7, connection.peer(), remote, 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("the server has the bytes"); // what DELIVERY_COMPLETE says
        }
    }
}
