package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Connection;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EndpointControl;
import io.ofi4j.EndpointOptions;
import io.ofi4j.Event;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.ScalableEndpoint;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Listening;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Trials of the calls of fi_endpoint(3), and of the models of fi_domain(3). */
final class EndpointTrials {
    private static final long TOKEN = 5;
    /** Only those operations of the near end give a completion that ask for one. */
    static final Ends.Wiring SELECTIVE = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bindSelective(ends.near.queue).bind(ends.near.queue, Direction.RECEIVE);
        }
    };

    private static final Set<OperationFlag> DELIVERY = Set.of(OperationFlag.DELIVERY_COMPLETE);

    private EndpointTrials() {}

    static void addTo(Map<String, Trial> all) {
        all.put("fi_getopt", RmaTrial
                .of(t -> Check.holds("the option has a value", t.near.endpoint().options().get(option(t)) >= 0)));
        all.put("fi_setopt", RmaTrial.of(t -> {
            EndpointOptions options = t.near.endpoint().options();
            long wanted = options.get(EndpointOption.MINIMUM_MULTI_RECEIVE) + 8;
            options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, wanted);
            Check.equal("what was set", options.get(EndpointOption.MINIMUM_MULTI_RECEIVE), wanted);
        }));
        all.put("fi_control: GETOPSFLAG, SETOPSFLAG", RmaTrial.of(t -> {
            EndpointControl control = t.near.endpoint().control();
            control.defaultFlags(DELIVERY);
            Check.holds("the flags are those that were set", control.defaultFlags().containsAll(DELIVERY));
            t.write();
        }));
        all.put("op_flags: DELIVERY_COMPLETE", RmaTrial
                .of(hints -> hints.operationFlags(OperationFlag.DELIVERY_COMPLETE), EndpointTrials::isDelivered));
        all.put("fi_ep_bind: SELECTIVE_COMPLETION",
                RmaTrial.of(UnaryOperator.identity(), SELECTIVE, EndpointTrials::completeSelectively));
        all.put("fi_ep_alias", RmaTrial.of(t -> {
            try (Endpoint alias = t.near.endpoint().alias(DELIVERY)) {
                alias.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
                t.ends.awaitToken(TOKEN);
                t.awaitWritten();
            }
        }));
        all.put("fi_srx_context", EndpointTrials::receiveThroughShared);
        all.put("fi_stx_context", EndpointTrials::transmitThroughShared);
        all.put("fi_scalable_ep, fi_rx_addr", EndpointTrials::sendToContext);
        all.put("fi_tx_size_left",
                RmaTrial.of(t -> Check.holds("there is room", t.near.endpoint().control().transmitSizeLeft() > 0)));
        all.put("fi_rx_size_left", RmaTrial.of(t -> Check.holds("it says how much room there is",
                t.near.endpoint().control().receiveSizeLeft() >= 0)));
        models(all);
    }

    private static void models(Map<String, Trial> all) {
        for (ThreadingModel model : List.of(ThreadingModel.SAFE, ThreadingModel.COMPLETION, ThreadingModel.DOMAIN)) {
            all.put("threading " + model, RmaTrial.of(hints -> hints.threading(model), RmaSetting::write));
        }
        all.put("data progress MANUAL", RmaTrial.of(hints -> hints.dataProgress(ProgressModel.MANUAL), t -> {
            Check.equal("the model", t.ends.domain.info().domain().dataProgress(), ProgressModel.MANUAL);
            t.write();
        }));
        all.put("data progress AUTO", EndpointTrials::isServedWithoutPolling);
    }

    private static CompletionHandler noting(List<Long> tokens) {
        return (token, flags, length, data) -> tokens.add(token);
    }

    private static final Ends.Wiring SHARED_RECEIVE = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.near.queue).bind(ends.openReceiveContext(ends.near));
        }

        @Override
        public Endpoint bindFar(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.far.queue).bind(ends.openReceiveContext(ends.far));
        }
    };

    private static final Ends.Wiring SHARED_TRANSMIT = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.near.queue).bind(ends.openTransmitContext());
        }

        @Override
        public Endpoint bindFar(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.far.queue).bind(ends.openTransmitContext());
        }
    };

    private static void receiveThroughShared(Subject subject) {
        FabricHints hints = subject.hints().capabilities(Capability.MSG, Capability.RMA)
                .attributes(AttributeHints.none().sharedReceiveContext());
        try (Ends ends = new Ends(subject, hints, CompletionQueueAttributes.defaults(), SHARED_RECEIVE)) {
            isSent(ends, ends.receiveContexts.getLast().messages());
        }
    }

    private static void transmitThroughShared(Subject subject) {
        FabricHints hints = subject.hints().capabilities(Capability.MSG, Capability.RMA)
                .attributes(AttributeHints.none().sharedTransmitContext());
        try (Ends ends = new Ends(subject, hints, CompletionQueueAttributes.defaults(), SHARED_TRANSMIT)) {
            isSent(ends, ends.far.endpoint().messages());
        }
    }

    private static void isSent(Ends ends, Messages receiver) {
        try (MemoryRegion near = ends.domain.allocate(LENGTH, Access.SEND);
                MemoryRegion far = ends.domain.allocate(LENGTH, Access.RECEIVE)) {
            near.segment().fill((byte) 1);
            receiver.receive(far.slice(0, LENGTH), TOKEN);
            ends.near.endpoint().messages().send(near.slice(0, LENGTH), ends.peer, TOKEN);
            ends.await(() -> ends.near.tokens().contains(TOKEN) && ends.far.tokens().contains(TOKEN));
            Check.holds("the message was received", RmaSetting.has(far, (byte) 1));
        }
    }

    private static void sendToContext(Subject subject) {
        FabricHints hints = subject.hints().capabilities(Capability.MSG, Capability.RMA, Capability.NAMED_RX_CTX)
                .attributes(AttributeHints.none().atLeast(Limit.RECEIVE_CONTEXTS, 2));
        List<Long> received = new ArrayList<>();
        try (Fabric fabric = Libfabric.load().openFabric(Subject.info(hints));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain
                        .openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(1));
                MemoryRegion region = domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
                ScalableEndpoint endpoint = domain.openScalableEndpoint().bind(vector);
                Endpoint transmit = endpoint.openTransmitContext(0).bind(queue).enable();
                Endpoint receive = endpoint.openReceiveContext(1).bind(queue).enable()) {
            Peer peer = vector.receiveContext(vector.insert(endpoint.enable().address()), 1);
            receive.messages().receive(region.slice(0, LENGTH), TOKEN);
            transmit.messages().inject(region.slice(0, 8), peer);
            Waiting.YIELD.until(() -> {
                queue.poll(noting(received), 64);
                return received.contains(TOKEN);
            }, subject.deadline());
        }
    }

    private static EndpointOption<Long> option(RmaSetting t) {
        return t.ends.vector == null ? EndpointOption.CONNECTION_DATA_SIZE : EndpointOption.MINIMUM_MULTI_RECEIVE;
    }

    private static void isDelivered(RmaSetting t) {
        t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
        t.ends.awaitToken(TOKEN);
        Check.holds("what was written is there", RmaSetting.has(t.there, (byte) 1));
    }

    private static void completeSelectively(RmaSetting t) {
        t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
        t.message().flags(OperationFlag.COMPLETION).write(TOKEN + 1);
        t.ends.awaitToken(TOKEN + 1);
        t.awaitWritten();
    }

    /** The target has a domain of its own, so that nobody else's progress is its progress. */
    private static void isServedWithoutPolling(Subject subject) {
        FabricHints hints = subject.hints().dataProgress(ProgressModel.AUTO);
        if (subject.isConnected()) {
            isServedOverConnection(subject, hints);
            return;
        }
        try (Ends here = ends(subject, hints); Ends target = ends(subject, hints)) {
            Peer peer = here.vector.insert(target.near.endpoint().address());
            arrives(here.domain, here.near.endpoint(), here.near.queue, peer, target.domain, subject.deadline());
        }
    }

    private static Ends ends(Subject subject, FabricHints hints) {
        return new Ends(subject, hints, CompletionQueueAttributes.defaults(), Ends.QUEUES);
    }

    private static void isServedOverConnection(Subject subject, FabricHints hints) {
        try (Listening here = new Listening(subject, hints); Listening target = new Listening(subject, hints)) {
            Endpoint client = here.client(target);
            client.connection().connect(target.passive.address());
            Event asked = target.await(target.events, here);
            Endpoint server = target.server(((Event.ConnectionRequested) asked).request());
            server.connection().accept();
            Waiting.YIELD.until(() -> {
                here.clientEvents.progress();
                target.events.progress();
                return client.connection().state() == Connection.State.CONNECTED
                        && server.connection().state() == Connection.State.CONNECTED;
            }, subject.deadline());
            arrives(here.domain, client, here.clientQueue, client.connection().peer(), target.domain,
                    subject.deadline());
        }
    }

    private static void arrives(Domain here, Endpoint from, CompletionQueue queue, Peer peer, Domain target,
            Duration deadline) {
        try (MemoryRegion source = here.allocate(LENGTH, Access.WRITE);
                MemoryRegion there = target.allocate(LENGTH, Access.REMOTE_WRITE)) {
            source.segment().fill((byte) 1);
            from.postTimeout(deadline);
            from.rma().write(source.slice(0, LENGTH), peer, there.remote(), TOKEN);
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> {}, 1);
                return there.segment().mismatch(source.segment()) == -1;
            }, deadline);
        }
    }
}
