package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.quirks.Fact;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** The counters bound to an endpoint, by the event they count. */
final class BoundCounters {
    private final Map<CounterEvent, Counter> byEvent = new EnumMap<>(CounterEvent.class);

    /**
     * Binds a counter.
     *
     * @throws IllegalStateException if an event already has a counter, or the counter is closed
     * @throws UnsupportedOperationException if the endpoint cannot count an event
     */
    void add(Endpoint endpoint, Counter counter, Set<CounterEvent> events) {
        boolean remote = endpoint.info().capabilities().contains(Capability.RMA_EVENT);
        for (CounterEvent event : events) {
            if (event.isRemote() && !remote) {
                throw new UnsupportedOperationException("counting " + event + " needs Capability.RMA_EVENT, which "
                        + endpoint + " lacks: request it in FabricHints, or use another provider");
            }
            if (event.isRemote()) { endpoint.quirks.require(Fact.COUNTS_DATA_WRITES_ONLY); }
            if (byEvent.containsKey(event)) {
                throw new IllegalStateException(endpoint + " already has a counter for " + event);
            }
        }
        counter.bind(endpoint);
        events.forEach(event -> byEvent.put(event, counter));
    }

    boolean isEmpty() { return byEvent.isEmpty(); }

    /** {@return the counter of an event, or null} */
    Counter of(CounterEvent event) { return byEvent.get(event); }

    boolean has(CounterEvent event) { return byEvent.containsKey(event); }

    /** Passes each counter with the flags of the events it counts. */
    void forEach(BiConsumer<Counter, Long> action) {
        Map<Counter, Long> flags = new LinkedHashMap<>();
        byEvent.forEach((event, counter) -> flags.merge(counter, event.bit(), (some, more) -> some | more));
        flags.forEach(action);
    }

    /** @throws IllegalStateException if the threading model gives a counter to another thread than the queue */
    void requireOwnerOf(ThreadGuard queue) {
        for (Counter counter : all()) {
            if (!counter.guard.sharesOwnerWith(queue)) {
                throw new IllegalStateException("with this threading model one thread must open all queues and counters"
                        + " of an endpoint, but another thread opened " + counter);
            }
        }
    }

    /** @throws IllegalStateException if a counter serves only one queue, and it is another queue */
    void requireServe(CompletionQueue queue) {
        all().forEach(counter -> counter.requireServes(queue));
    }

    /** Records that the endpoint was enabled. No other thread uses it meanwhile. */
    void enabled(CompletionQueue queue) {
        all().forEach(counter -> counter.enabled(queue));
    }

    /** Has each counter poll a hidden queue when it is read. */
    void poll(CompletionQueue hidden) {
        all().forEach(counter -> counter.poll(hidden));
    }

    /** Counts an operation that has failed in a hidden queue, in the counter of its event. */
    void failed(CompletionError error) {
        boolean isKnown = Stream.of(CounterEvent.values()).anyMatch(event -> (error.flags() & event.bit()) != 0);
        byEvent.entrySet().stream().filter(one -> !isKnown || (error.flags() & one.getKey().bit()) != 0)
                .map(Map.Entry::getValue).distinct().forEach(Counter::failed);
    }

    /** Records that the endpoint is about to close. No other thread uses it meanwhile. */
    void closing() {
        all().forEach(Counter::closing);
    }

    void released(Endpoint endpoint) { all().forEach(counter -> counter.unbind(endpoint)); }

    List<Counter> all() { return byEvent.values().stream().distinct().toList(); }
}
