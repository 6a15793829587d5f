package io.ofi4j.conformance;

import io.ofi4j.AddressVector;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Counter;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.SharedReceiveContext;
import io.ofi4j.SharedTransmitContext;
import io.ofi4j.Waiting;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.WaitObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Two endpoints that reach each other, connected or not: of one domain, unless the provider has one endpoint in each.
 * The near one posts what is tried.
 */
public final class Ends implements AutoCloseable {
    /** The domain of the near end. */
    public final Domain domain;
    /** The domain of the far end, which is mostly the same. */
    public final Domain farDomain;
    /** The vector of the near end; null if they are connected. */
    public final AddressVector vector;
    /** The end that posts. */
    public final End near;
    /** The end that is reached. */
    public final End far;
    /** The far end, as the near one knows it. */
    public final Peer peer;
    /** Counters that a wiring opened. */
    public final List<Counter> counters = new ArrayList<>();
    /** Shared contexts that a wiring opened. */
    public final List<SharedReceiveContext> receiveContexts = new ArrayList<>();

    private final List<SharedTransmitContext> transmitContexts = new ArrayList<>();
    private final Duration deadline;
    private final Fabric fabric;
    /** Of the far end, and mostly that of the near one. */
    private final AddressVector farVector;
    /** Of connected endpoints; null otherwise. */
    private final EventQueue events;
    private final PassiveEndpoint passive;

    /** What is bound to the endpoints before they are enabled, besides vectors and event queues. */
    public interface Wiring {
        /** {@return the near endpoint, bound} */
        default Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.near.queue);
        }

        /** {@return the far endpoint, bound} */
        default Endpoint bindFar(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.far.queue);
        }
    }

    /** Binds a queue to each. */
    public static final Wiring QUEUES = new Wiring() {
    };

    /** The two ends of what is tried. */
    public Ends(Subject subject) {
        this(subject, subject.hints(), CompletionQueueAttributes.defaults(), QUEUES);
    }

    /**
     * Two ends that are asked for, and bound, otherwise.
     *
     * @param subject whose deadline it takes
     * @param hints what opens them
     * @param queues the attributes of both queues
     * @param wiring what is bound to them
     */
    public Ends(Subject subject, FabricHints hints, CompletionQueueAttributes queues, Wiring wiring) {
        deadline = subject.deadline();
        FabricInfo info = Subject.info(hints);
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        near = new End(domain.openCompletionQueue(queues));
        if (info.endpoint().type() == EndpointType.MSG) {
            farDomain = domain;
            far = new End(domain.openCompletionQueue(queues));
            vector = null;
            farVector = null;
            events = fabric.openEventQueue();
            passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            FabricInfo active = info.withDestination(passive.address());
            near.endpoint(wiring.bindNear(this, domain.openEndpoint(active).bind(events)).enable());
            far.endpoint(connect(wiring));
            peer = near.endpoint().connection().peer();
        } else {
            events = null;
            passive = null;
            vector = domain.openAddressVector();
            near.endpoint(wiring.bindNear(this, domain.openEndpoint().bind(vector)).enable());
            Endpoint second;
            Domain other = domain;
            try {
                second = domain.openEndpoint();
            } catch (UnsupportedOperationException e) { // one endpoint in each domain
                other = fabric.openDomain();
                second = other.openEndpoint();
            }
            farDomain = other;
            far = new End(farDomain.openCompletionQueue(queues));
            farVector = farDomain == domain ? vector : farDomain.openAddressVector();
            far.endpoint(wiring.bindFar(this, second.bind(farVector)).enable());
            peer = vector.insert(far.endpoint().address());
        }
        near.endpoint().postTimeout(deadline);
        far.endpoint().postTimeout(deadline);
    }

    private Endpoint connect(Wiring wiring) {
        near.endpoint().connection().connect(passive.address());
        if (!(events.read(deadline) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
            throw new Wrong("the first event of a passive endpoint is no request for a connection");
        }
        Endpoint accepting = wiring.bindFar(this, domain.openEndpoint(request).bind(events)).enable();
        accepting.connection().accept(deadline);
        near.endpoint().connection().awaitConnected(deadline);
        return accepting;
    }

    /** {@return the near end, as the far one knows it} */
    public Peer back() {
        return vector == null ? far.endpoint().connection().peer() : farVector.insert(near.endpoint().address());
    }

    /** {@return the vector, or an exception that says that there is none} */
    public AddressVector vector() {
        if (vector == null) { throw new UnsupportedOperationException("connected endpoints have no address vector"); }
        return vector;
    }

    /** {@return a new counter} For a {@link Wiring}; it is closed after the endpoints, as all that wirings open. */
    public Counter openCounter(WaitObject object) {
        counters.add(domain.openCounter(CounterAttributes.defaults().waitObject(object)));
        return counters.getLast();
    }

    /** {@return a new context that receives for the endpoints of an end} For a {@link Wiring}. */
    public SharedReceiveContext openReceiveContext(End end) {
        receiveContexts.add(domain.openSharedReceiveContext().bind(end.queue).enable());
        return receiveContexts.getLast();
    }

    /** {@return a new context that transmits for endpoints} For a {@link Wiring}. */
    public SharedTransmitContext openTransmitContext() {
        transmitContexts.add(domain.openSharedTransmitContext());
        return transmitContexts.getLast();
    }

    /** Polls both ends. */
    public void poll() {
        far.poll();
        near.poll();
    }

    /** Polls both ends until something is so. */
    public void await(BooleanSupplier condition) {
        Waiting.YIELD.until(() -> {
            poll();
            return condition.getAsBoolean();
        }, deadline);
    }

    /**
     * Polls both ends until something is so, or throws {@link Absent}.
     *
     * @param what a noun for what has to come, such as "the last message"
     */
    public void require(String what, BooleanSupplier condition) {
        boolean came = Waiting.YIELD.tryUntil(() -> {
            poll();
            return condition.getAsBoolean();
        }, deadline);
        if (!came) { throw new Absent(what, deadline); }
    }

    /** Polls both ends until each has completed so many operations, well or not. */
    public void await(int nearCount, int farCount) {
        await(() -> near.count() >= nearCount && far.count() >= farCount);
    }

    /** Waits for one completion at the near end, with this token and no error. What had completed before is dropped. */
    public void awaitToken(long token) {
        near.done.clear();
        await(() -> near.count() > 0);
        Check.none("the errors", near.errors);
        Check.equal("the token of the completion", Check.single("the completions", near.tokens()), token);
    }

    @Override
    public void close() {
        near.endpoint().close();
        far.endpoint().close();
        counters.forEach(Counter::close);
        receiveContexts.forEach(SharedReceiveContext::close);
        transmitContexts.forEach(SharedTransmitContext::close);
        if (vector != null) {
            vector.close();
            farVector.close(); // or was closed with it
        } else {
            passive.close();
            events.close();
        }
        near.queue.close();
        far.queue.close();
        farDomain.close();
        domain.close();
        fabric.close();
    }
}
