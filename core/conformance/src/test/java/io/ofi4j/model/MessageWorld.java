package io.ofi4j.model;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Messages;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.ScalableEndpoint;
import io.ofi4j.SharedReceiveContext;
import io.ofi4j.SharedTransmitContext;
import io.ofi4j.Tagged;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Limit;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What both ends of a {@link MessageProgram} have open: one endpoint each, or two that share a context, or one with two
 * contexts.
 */
final class MessageWorld implements AutoCloseable {
    /** How the endpoints of an end belong together. */
    enum Shape {
        PLAIN, SHARED_RECEIVE, SHARED_TRANSMIT, SCALABLE;

        FabricHints of(FabricHints hints) {
            AttributeHints none = AttributeHints.none();
            Set<Capability> further = hints.capabilities();
            further.add(Capability.NAMED_RX_CTX);
            return switch (this) {
                case PLAIN -> hints;
                case SHARED_RECEIVE -> hints.attributes(none.sharedReceiveContext());
                case SHARED_TRANSMIT -> hints.attributes(none.sharedTransmitContext());
                case SCALABLE -> hints.capabilities(further.toArray(Capability[]::new)).attributes(
                        none.atLeast(Limit.TRANSMIT_CONTEXTS, LANES).atLeast(Limit.RECEIVE_CONTEXTS, LANES));
            };
        }
    }

    /** Who sends, where the peer's messages come in, and whom it sends to. */
    record Lane(Endpoint sender, Receiver receiver, Peer peer) {}

    /** What takes the messages of a lane: an endpoint, or a context that several share. */
    interface Receiver {
        Messages messages();

        Tagged tagged();
    }

    private static Receiver receiverOf(Endpoint endpoint) { return receiver(endpoint::messages, endpoint::tagged); }

    private static Receiver receiver(Supplier<Messages> messages, Supplier<Tagged> tagged) {
        return new Receiver() {
            @Override
            public Messages messages() { return messages.get(); }

            @Override
            public Tagged tagged() { return tagged.get(); }
        };
    }

    private static final int LANES = 2;
    private static final int CONTEXT_BITS = 1;

    final Domain domain;
    /** Of the near end and of the far one. */
    final List<CompletionQueue> queues = new ArrayList<>();
    final List<List<Lane>> lanes = List.of(new ArrayList<>(), new ArrayList<>());
    private final Shape shape;
    private final FabricInfo info;
    private final Fabric fabric;
    /** What is closed last is opened first. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Deque<AutoCloseable> endpoints = new ArrayDeque<>();

    MessageWorld(FabricHints hints, Shape shape) {
        this.shape = shape;
        info = TestProviders.info(shape.of(hints));
        fabric = keep(Libfabric.load().openFabric(info));
        domain = keep(fabric.openDomain());
        queues.add(keep(domain.openCompletionQueue(MessageSide.QUEUE)));
        queues.add(keep(domain.openCompletionQueue(MessageSide.QUEUE)));
        if (shape == Shape.SCALABLE) {
            openScalable();
        } else if (info.endpoint().type() == EndpointType.MSG) {
            openConnected();
        } else {
            openUnconnected();
        }
        lanes.forEach(end -> end.forEach(lane -> lane.sender.postTimeout(Patience.seconds(10))));
    }

    /** The near end's, for one-sided transfers. */
    Endpoint endpoint() { return lanes.getFirst().getFirst().sender; }

    Peer far() { return lanes.getFirst().getFirst().peer; }

    private int count() { return shape == Shape.PLAIN ? 1 : LANES; }

    private <T extends AutoCloseable> T keep(T object) {
        opened.push(object);
        return object;
    }

    private <T extends AutoCloseable> T keepOfEndpoints(T object) {
        endpoints.push(object);
        return object;
    }

    /** The contexts that the endpoints of an end share. */
    private final class Shared {
        final CompletionQueue queue;
        final SharedReceiveContext receive;
        final Receiver receiver;
        final SharedTransmitContext transmit;

        Shared(int end) {
            queue = queues.get(end);
            receive = shape == Shape.SHARED_RECEIVE
                    ? keepOfEndpoints(domain.openSharedReceiveContext().bind(queue).enable())
                    : null;
            receiver = receive == null ? null : MessageWorld.receiver(receive::messages, receive::tagged);
            transmit = shape == Shape.SHARED_TRANSMIT ? keepOfEndpoints(domain.openSharedTransmitContext()) : null;
        }

        Endpoint enable(Endpoint endpoint) {
            keepOfEndpoints(endpoint).bind(queue);
            if (receive != null) { endpoint.bind(receive); }
            if (transmit != null) { endpoint.bind(transmit); }
            return endpoint.enable();
        }

        Receiver receiver(Endpoint endpoint) { return receiver == null ? receiverOf(endpoint) : receiver; }
    }

    private void openUnconnected() {
        AddressVector vector = keep(domain.openAddressVector());
        List<Shared> ends = List.of(new Shared(0), new Shared(1));
        for (int lane = 0; lane < count(); lane++) {
            Endpoint near = ends.get(0).enable(domain.openEndpoint().bind(vector));
            Endpoint far = ends.get(1).enable(domain.openEndpoint().bind(vector));
            lanes.get(0).add(new Lane(near, ends.get(0).receiver(near), vector.insert(far.address())));
            lanes.get(1).add(new Lane(far, ends.get(1).receiver(far), vector.insert(near.address())));
        }
    }

    private void openConnected() {
        EventQueue events = keep(fabric.openEventQueue());
        PassiveEndpoint passive = keep(fabric.openPassiveEndpoint(info).bind(events).listen());
        List<Shared> ends = List.of(new Shared(0), new Shared(1));
        for (int lane = 0; lane < count(); lane++) {
            Endpoint near = ends.get(0)
                    .enable(domain.openEndpoint(info.withDestination(passive.address())).bind(events));
            near.connection().connect(passive.address());
            if (!(events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
                throw new AssertionError("no connection was asked for");
            }
            Endpoint far = ends.get(1).enable(domain.openEndpoint(request).bind(events));
            far.connection().accept(Pair.DEADLINE);
            near.connection().awaitConnected(Pair.DEADLINE);
            lanes.get(0).add(new Lane(near, ends.get(0).receiver(near), near.connection().peer()));
            lanes.get(1).add(new Lane(far, ends.get(1).receiver(far), far.connection().peer()));
        }
    }

    private void openScalable() {
        AddressVector vector = keep(
                domain.openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(CONTEXT_BITS)));
        List<ScalableEndpoint> ends = List.of(keepOfEndpoints(domain.openScalableEndpoint().bind(vector)),
                keepOfEndpoints(domain.openScalableEndpoint().bind(vector)));
        List<List<Endpoint>> transmits = List.of(new ArrayList<>(), new ArrayList<>());
        List<List<Endpoint>> receives = List.of(new ArrayList<>(), new ArrayList<>());
        for (int end = 0; end < ends.size(); end++) {
            for (int lane = 0; lane < LANES; lane++) {
                transmits.get(end)
                        .add(keepOfEndpoints(ends.get(end).openTransmitContext(lane)).bind(queues.get(end)).enable());
                receives.get(end)
                        .add(keepOfEndpoints(ends.get(end).openReceiveContext(lane)).bind(queues.get(end)).enable());
            }
            ends.get(end).enable();
        }
        for (int end = 0; end < ends.size(); end++) {
            Peer other = vector.insert(ends.get(1 - end).address());
            for (int lane = 0; lane < LANES; lane++) {
                lanes.get(end).add(new Lane(transmits.get(end).get(lane), receiverOf(receives.get(end).get(lane)),
                        vector.receiveContext(other, lane)));
            }
        }
    }

    void closeEndpoints() { close(endpoints); }

    @Override
    public void close() {
        closeEndpoints();
        close(opened);
    }

    private static void close(Deque<AutoCloseable> objects) {
        while (!objects.isEmpty()) {
            try {
                objects.pop().close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e); // nothing that is kept throws any other
            }
        }
    }
}
