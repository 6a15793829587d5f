package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.engine.ThreadGuard;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** The counters that are bound to an endpoint, and for what. */
final class BoundCounters {
    private final Map<CounterEvent, Counter> byEvent = new EnumMap<>(CounterEvent.class);

    /**
     * Notes a counter.
     *
     * @throws IllegalStateException if something has one, or the counter is closed
     * @throws UnsupportedOperationException if the endpoint cannot count that
     */
    void add(Endpoint endpoint, Counter counter, Set<CounterEvent> events) {
        boolean remote = endpoint.info().capabilities().contains(Capability.RMA_EVENT);
        for (CounterEvent event : events) {
            if (event.isRemote() && !remote) {
                throw new UnsupportedOperationException("counting " + event + " needs Capability.RMA_EVENT, which "
                        + endpoint + " was opened without: ask for it in FabricHints, or for another provider");
            }
            if (event.isRemote() && endpoint.quirks.has(Fact.COUNTS_DATA_WRITES_ONLY)) {
                throw new UnsupportedOperationException("counting " + event + " is not offered for provider "
                        + endpoint.info().provider() + ": of peers' operations it counts only writes with data");
            }
            if (byEvent.containsKey(event)) {
                throw new IllegalStateException(endpoint + " already has a counter for " + event);
            }
        }
        counter.bind(endpoint);
        events.forEach(event -> byEvent.put(event, counter));
    }

    boolean has(CounterEvent event) {
        return byEvent.containsKey(event);
    }

    /** Each counter with the flags of what it counts. */
    void forEach(BiConsumer<Counter, Long> action) {
        for (Counter counter : all()) {
            long flags = 0;
            for (Map.Entry<CounterEvent, Counter> entry : byEvent.entrySet()) {
                flags |= entry.getValue() == counter ? entry.getKey().bit() : 0;
            }
            action.accept(counter, flags);
        }
    }

    /** @throws IllegalStateException if the threading model gives a counter to another thread than a queue */
    void requireOwnerOf(ThreadGuard queue) {
        for (Counter counter : all()) {
            if (!counter.guard.sharesOwnerWith(queue)) {
                throw new IllegalStateException("with this threading model one thread must have opened the queues and"
                        + " counters of an endpoint, but not " + counter);
            }
        }
    }

    /** @throws IllegalStateException if a counter can be one queue's only, and is another's */
    void requireServe(CompletionQueue queue) {
        all().forEach(counter -> counter.requireServes(queue));
    }

    /** The endpoint was enabled, while nobody uses the counters. */
    void enabled(CompletionQueue queue) {
        all().forEach(counter -> counter.enabled(queue));
    }

    /** The endpoint is about to be closed, while nobody uses the counters. */
    void closing() {
        all().forEach(Counter::closing);
    }

    /** Does something while nobody uses the counters. */
    void undisturbed(Runnable action) {
        List<Counter> counters = all();
        int entered = 0;
        try {
            for (Counter counter : counters) {
                counter.enterAlone();
                entered++;
            }
            action.run();
        } finally {
            counters.subList(0, entered).forEach(counter -> counter.guard.exit());
        }
    }

    void released(Endpoint endpoint) {
        all().forEach(counter -> counter.unbind(endpoint));
    }

    private List<Counter> all() {
        return byEvent.values().stream().distinct().toList();
    }
}
