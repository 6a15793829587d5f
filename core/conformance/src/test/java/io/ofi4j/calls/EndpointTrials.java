package io.ofi4j.calls;

import static io.ofi4j.calls.Trial.LENGTH;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
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
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
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
    static final Pair.Wiring SELECTIVE = new Pair.Wiring() {
        @Override
        public Endpoint bindNear(Pair pair, Endpoint endpoint) {
            return endpoint.bindSelective(pair.queue).bind(pair.queue, Direction.RECEIVE);
        }
    };

    private static final Set<OperationFlag> DELIVERY = Set.of(OperationFlag.DELIVERY_COMPLETE);

    private EndpointTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_getopt", CallTrial.of(t -> assertThat(t.pair.endpoint.options().get(option(t))).isNotNegative()));
        all.put("fi_setopt", CallTrial.of(t -> {
            EndpointOptions options = t.pair.endpoint.options();
            long wanted = options.get(EndpointOption.MINIMUM_MULTI_RECEIVE) + 8;
            options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, wanted);
            assertThat(options.get(EndpointOption.MINIMUM_MULTI_RECEIVE)).as("what was set").isEqualTo(wanted);
        }));
        all.put("fi_control: GETOPSFLAG, SETOPSFLAG", CallTrial.of(t -> {
            EndpointControl control = t.pair.endpoint.control();
            control.defaultFlags(DELIVERY);
            assertThat(control.defaultFlags()).containsAll(DELIVERY);
            t.write();
        }));
        all.put("op_flags: DELIVERY_COMPLETE", CallTrial
                .of(hints -> hints.operationFlags(OperationFlag.DELIVERY_COMPLETE), EndpointTrials::isDelivered));
        all.put("fi_ep_bind: SELECTIVE_COMPLETION",
                CallTrial.of(UnaryOperator.identity(), SELECTIVE, EndpointTrials::completeSelectively));
        all.put("fi_ep_alias", CallTrial.of(t -> {
            try (Endpoint alias = t.pair.endpoint.alias(DELIVERY)) {
                alias.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
                t.awaitToken(TOKEN);
                t.awaitWritten();
            }
        }));
        all.put("fi_srx_context", EndpointTrials::receiveThroughShared);
        all.put("fi_stx_context", EndpointTrials::transmitThroughShared);
        all.put("fi_scalable_ep, fi_rx_addr", EndpointTrials::sendToContext);
        all.put("fi_tx_size_left",
                CallTrial.of(t -> assertThat(t.pair.endpoint.control().transmitSizeLeft()).isPositive()));
        all.put("fi_rx_size_left",
                CallTrial.of(t -> assertThat(t.pair.endpoint.control().receiveSizeLeft()).isNotNegative()));
        models(all);
    }

    private static void models(Map<String, CallTrial> all) {
        for (ThreadingModel model : List.of(ThreadingModel.SAFE, ThreadingModel.COMPLETION, ThreadingModel.DOMAIN)) {
            all.put("threading " + model, CallTrial.of(hints -> hints.threading(model), Trial::write));
        }
        all.put("data progress MANUAL", CallTrial.of(hints -> hints.dataProgress(ProgressModel.MANUAL), t -> {
            assertThat(t.pair.domain.info().domain().dataProgress()).isEqualTo(ProgressModel.MANUAL);
            t.write();
        }));
        all.put("data progress AUTO", EndpointTrials::isServedWithoutPolling);
    }

    private static CompletionHandler noting(List<Long> tokens) {
        return (token, flags, length, data) -> tokens.add(token);
    }

    private static final Pair.Wiring SHARED_RECEIVE = new Pair.Wiring() {
        @Override
        public Endpoint bindNear(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.queue).bind(pair.openReceiveContext(pair.queue));
        }

        @Override
        public Endpoint bindFar(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.farQueue).bind(pair.openReceiveContext(pair.farQueue));
        }
    };

    private static final Pair.Wiring SHARED_TRANSMIT = new Pair.Wiring() {
        @Override
        public Endpoint bindNear(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.queue).bind(pair.openTransmitContext());
        }

        @Override
        public Endpoint bindFar(Pair pair, Endpoint endpoint) {
            return endpoint.bind(pair.farQueue).bind(pair.openTransmitContext());
        }
    };

    private static void receiveThroughShared(CallColumn column) {
        FabricHints hints = column.hints().capabilities(Capability.MSG, Capability.RMA)
                .attributes(AttributeHints.none().sharedReceiveContext());
        try (Pair pair = new Pair(hints, CompletionQueueAttributes.defaults(), SHARED_RECEIVE)) {
            isSent(pair, pair.receiveContexts.getLast().messages());
        }
    }

    private static void transmitThroughShared(CallColumn column) {
        FabricHints hints = column.hints().capabilities(Capability.MSG, Capability.RMA)
                .attributes(AttributeHints.none().sharedTransmitContext());
        try (Pair pair = new Pair(hints, CompletionQueueAttributes.defaults(), SHARED_TRANSMIT)) {
            isSent(pair, pair.farEndpoint.messages());
        }
    }

    private static void isSent(Pair pair, Messages receiver) {
        List<Long> received = new ArrayList<>();
        try (MemoryRegion near = pair.domain.allocate(LENGTH, Access.SEND);
                MemoryRegion far = pair.domain.allocate(LENGTH, Access.RECEIVE)) {
            near.segment().fill((byte) 1);
            receiver.receive(far.slice(0, LENGTH), TOKEN);
            pair.endpoint.messages().send(near.slice(0, LENGTH), pair.far, TOKEN);
            Waiting.YIELD.until(() -> {
                pair.pollNear();
                pair.farQueue.poll(noting(received), 64);
                return pair.completed.contains(TOKEN) && received.contains(TOKEN);
            }, Pair.DEADLINE);
            assertThat(Trial.has(far, (byte) 1)).isTrue();
        }
    }

    private static void sendToContext(CallColumn column) {
        FabricHints hints = column.hints().capabilities(Capability.MSG, Capability.RMA, Capability.NAMED_RX_CTX)
                .attributes(AttributeHints.none().atLeast(Limit.RECEIVE_CONTEXTS, 2));
        List<Long> received = new ArrayList<>();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
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
            }, Pair.DEADLINE);
        }
    }

    private static EndpointOption<Long> option(Trial t) {
        return t.pair.vector == null ? EndpointOption.CONNECTION_DATA_SIZE : EndpointOption.MINIMUM_MULTI_RECEIVE;
    }

    private static void isDelivered(Trial t) {
        t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
        t.awaitToken(TOKEN);
        assertThat(t.there.segment().mismatch(t.here.segment())).isEqualTo(-1);
    }

    private static void completeSelectively(Trial t) {
        t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
        t.message().flags(OperationFlag.COMPLETION).write(TOKEN + 1);
        t.awaitToken(TOKEN + 1);
        t.awaitWritten();
    }

    /** The target has a domain of its own, so that nobody else's progress is its progress. */
    private static void isServedWithoutPolling(CallColumn column) {
        FabricHints hints = column.hints().dataProgress(ProgressModel.AUTO);
        if (column.isConnected()) {
            isServedOverConnection(hints, column.deadline());
            return;
        }
        try (Pair here = new Pair(hints); Pair target = new Pair(hints)) {
            Peer peer = here.vector.insert(target.endpoint.address());
            arrives(here.domain, here.endpoint, here.queue, peer, target.domain, column.deadline());
        }
    }

    private static void isServedOverConnection(FabricHints hints, Duration deadline) {
        try (Listener here = new Listener(hints); Listener target = new Listener(hints)) {
            Endpoint client = here.client(target.passive.address());
            client.connection().connect(target.passive.address());
            Endpoint server = target.server(requestOf(here, target));
            server.connection().accept();
            Waiting.YIELD.until(() -> {
                here.farEvents.progress();
                target.events.progress();
                return client.connection().state() == Connection.State.CONNECTED
                        && server.connection().state() == Connection.State.CONNECTED;
            }, Pair.DEADLINE);
            arrives(here.domain, client, here.farQueue, client.connection().peer(), target.domain, deadline);
        }
    }

    /** What is asked of the target, while both ends make progress. */
    private static ConnectionRequest requestOf(Listener here, Listener target) {
        Event[] next = new Event[1];
        Waiting.YIELD.until(() -> {
            here.poll();
            here.farEvents.progress();
            next[0] = target.events.read().orElse(null);
            return next[0] != null;
        }, Pair.DEADLINE);
        return ((Event.ConnectionRequested) next[0]).request();
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
