package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The main class of a peer in a JVM of its own: it has memory that others write and read, polls, and closes everything
 * when a line comes.
 */
final class PeerProcess {
    static final int LENGTH = 1 << 16;

    private PeerProcess() {}

    /**
     * Is the peer.
     *
     * @param arguments provider, type, deadline in milliseconds, address or nothing
     */
    public static void main(String[] arguments) throws IOException {
        Subject subject = new Subject(arguments[0], EndpointType.valueOf(arguments[1]),
                Optional.of(arguments[3]).filter(address -> !address.isEmpty()),
                Duration.ofMillis(Long.parseLong(arguments[2])));
        FabricInfo info = Subject.info(subject.hints());
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion memory = domain.allocate(LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            End end = End.of(queue);
            if (subject.isConnected()) {
                try (EventQueue events = fabric.openEventQueue();
                        PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen()) {
                    introduce(passive.address(), memory);
                    Event event = events.read(subject.deadline());
                    ConnectionRequest request = ((Event.ConnectionRequested) event).request();
                    try (Endpoint endpoint = domain.openEndpoint(request).bind(events).bind(queue).enable()) {
                        endpoint.connection().accept(subject.deadline());
                        serve(end, memory, events);
                    }
                }
            } else {
                try (AddressVector vector = domain.openAddressVector();
                        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    introduce(endpoint.address(), memory);
                    serve(end, memory, null);
                }
            }
        }
        System.out.println("closed");
    }

    private static void introduce(EndpointAddress address, MemoryRegion memory) {
        HexFormat hex = HexFormat.of();
        System.out.println("at " + address.format() + " " + hex.formatHex(address.toBytes()) + " "
                + hex.formatHex(memory.remote().encode()));
    }

    /** Until it is told to end; it says the first bytes of the memory when they change. */
    private static void serve(End end, MemoryRegion memory, EventQueue events) throws IOException {
        long seen = 0;
        while (System.in.available() == 0) {
            end.poll();
            if (events != null) { events.progress(); }
            long value = memory.segment().get(ValueLayout.JAVA_LONG, 0);
            if (value != seen) {
                System.out.println("has " + value);
                seen = value;
            }
            Thread.yield();
        }
    }

    static List<String> arguments(Subject subject) {
        return List.of(subject.provider(), subject.type().name(), Long.toString(subject.deadline().toMillis()),
                subject.source().orElse(""));
    }
}
