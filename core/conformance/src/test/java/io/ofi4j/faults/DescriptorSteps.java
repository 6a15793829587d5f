package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
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
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * From a fabric to a write that has arrived, one step after the other, within one process; what was opened is closed in
 * the end.
 */
final class DescriptorSteps implements AutoCloseable {
    static final int EMFILE = 24;
    static final int ETIMEDOUT = 110;

    /** What is done. Each needs descriptors with one provider at least, or waits for who does. */
    enum Step {
        FABRIC,
        DOMAIN,
        QUEUE,
        EVENT_QUEUE,
        PASSIVE_ENDPOINT,
        VECTOR,
        ENDPOINT,
        ENABLE,
        CONNECT,
        REQUEST(true),
        ACCEPT,
        CONNECTED(true),
        INSERT,
        MEMORY,
        WRITE(true),
        ARRIVAL(true);

        final boolean waits;

        Step() { this(false); }

        Step(boolean waits) { this.waits = waits; }
    }

    /** How long to wait for somebody who may get no descriptor, before looking whether there are any. */
    private static final Duration MOMENT = Patience.seconds(1).dividedBy(4);

    private final FabricHints hints;
    private final CompletionQueueAttributes attributes;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Deque<Endpoint> endpoints = new ArrayDeque<>();
    private Step step = Step.FABRIC;
    private FabricInfo info;
    private Fabric fabric;
    private Domain domain;
    private CompletionQueue queue;
    private CompletionQueue farQueue;
    private Endpoint endpoint;
    private Peer far;
    private boolean completed;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed = true; }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    };

    DescriptorSteps(String provider) {
        hints = TestProviders.hints(provider);
        boolean hasDescriptors = !provider.equals("shm") && !provider.contains("ofi_rxd");
        attributes = hasDescriptors
                ? CompletionQueueAttributes.defaults().waitObject(WaitObject.FD)
                : CompletionQueueAttributes.defaults();
    }

    /** Where a provider must have been refused, at least. */
    static Set<Step> needy(String provider) {
        if (provider.equals("shm") || provider.contains("ofi_rxd")) { return EnumSet.noneOf(Step.class); }
        return provider.startsWith("MSG ")
                ? EnumSet.of(Step.QUEUE, Step.PASSIVE_ENDPOINT, Step.ENDPOINT, Step.REQUEST)
                : EnumSet.of(Step.QUEUE, Step.WRITE);
    }

    /** {@return the last that was begun} */
    Step step() { return step; }

    void run() {
        begin(Step.FABRIC);
        info = TestProviders.info(hints);
        fabric = opened(Libfabric.load().openFabric(info));
        begin(Step.DOMAIN);
        domain = opened(fabric.openDomain());
        begin(Step.QUEUE);
        queue = opened(domain.openCompletionQueue(attributes));
        farQueue = opened(domain.openCompletionQueue(attributes));
        if (info.endpoint().type() == EndpointType.MSG) {
            connect();
        } else {
            insert();
        }
        write();
    }

    private void insert() {
        begin(Step.VECTOR);
        AddressVector vector = opened(domain.openAddressVector());
        begin(Step.ENDPOINT);
        endpoint = opened(domain.openEndpoint()).bind(vector).bind(queue);
        Endpoint target = opened(domain.openEndpoint()).bind(vector).bind(farQueue);
        begin(Step.ENABLE);
        endpoint.enable();
        target.enable();
        begin(Step.INSERT);
        far = vector.insert(target.address());
    }

    private void connect() {
        begin(Step.EVENT_QUEUE);
        EventQueue events = opened(fabric.openEventQueue());
        begin(Step.PASSIVE_ENDPOINT);
        PassiveEndpoint passive = opened(fabric.openPassiveEndpoint(info)).bind(events).listen();
        begin(Step.ENDPOINT);
        endpoint = opened(domain.openEndpoint(info.withDestination(passive.address()))).bind(events).bind(queue);
        begin(Step.ENABLE);
        endpoint.enable();
        begin(Step.CONNECT);
        endpoint.connection().connect(passive.address());
        begin(Step.REQUEST);
        Event[] event = new Event[1];
        await(deadline -> event[0] = events.read(deadline));
        if (!(event[0] instanceof Event.ConnectionRequested(ConnectionRequest request))) {
            throw new AssertionError(event[0]);
        }
        accept(request, events);
        begin(Step.CONNECTED);
        await(endpoint.connection()::awaitConnected);
        far = endpoint.connection().peer();
    }

    private void accept(ConnectionRequest request, EventQueue events) {
        begin(Step.ENDPOINT);
        Endpoint target = opened(domain.openEndpoint(request)).bind(events).bind(farQueue);
        begin(Step.ENABLE);
        target.enable();
        begin(Step.ACCEPT);
        target.connection().accept();
        begin(Step.CONNECTED);
        await(target.connection()::awaitConnected);
    }

    private void write() {
        begin(Step.MEMORY);
        MemoryRegion source = opened(domain.allocate(8, Access.WRITE));
        MemoryRegion target = opened(domain.allocate(8, Access.REMOTE_WRITE));
        source.segment().fill((byte) 7);
        begin(Step.WRITE);
        await(deadline -> {
            endpoint.postTimeout(deadline);
            endpoint.rma().write(source.slice(0, 8), far, target.remote(), 1);
        });
        begin(Step.ARRIVAL);
        await(deadline -> Waiting.YIELD.until(() -> {
            queue.poll(handler, 8);
            farQueue.poll(handler, 8);
            return completed && target.segment().mismatch(source.segment()) < 0;
        }, deadline));
    }

    /** Waits again and again, until it is said that there are no descriptors, or for too long. */
    private static void await(Consumer<Duration> wait) {
        long start = System.nanoTime();
        while (true) {
            try {
                wait.accept(MOMENT);
                return;
            } catch (FabricException e) {
                boolean ended = System.nanoTime() - start > Pair.DEADLINE.toNanos();
                if (e.errno() != ETIMEDOUT || ended || e.getMessage().contains("ulimit -n")) { throw e; }
            }
        }
    }

    private void begin(Step next) { step = next; }

    private <T extends AutoCloseable> T opened(T one) {
        if (one instanceof Endpoint opened) {
            endpoints.push(opened);
        } else {
            open.push(one);
        }
        return one;
    }

    @Override
    public void close() {
        endpoints.forEach(Endpoint::close);
        for (AutoCloseable one : open) {
            try {
                one.close();
            } catch (Exception e) {
                throw new AssertionError("at " + step, e);
            }
        }
    }
}
