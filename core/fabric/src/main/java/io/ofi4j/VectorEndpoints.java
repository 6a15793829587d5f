package io.ofi4j;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.ThreadGuard;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The endpoints of an address vector. A provider visits all of them when the vector changes, and when one of them is
 * enabled or closed: no thread may be in a call on one of them meanwhile. Its methods beside those of
 * {@link OpenChildren} are called inside the fabric's lock.
 */
final class VectorEndpoints extends OpenChildren {
    /** The guards that each insertion enters; null if an endpoint was enabled or closed since they were collected. */
    private CallGuards guards;

    /** {@return the result of an action during which no thread is in a call on one of the endpoints} */
    <R> R insideGuards(Supplier<R> action) {
        if (guards == null) { guards = CallGuards.of(enabled()); }
        return guards.insideAll(action);
    }

    /**
     * As {@link #insideGuards(Supplier)}, but no thread is in a call on this endpoint either, which is being enabled or
     * closed.
     */
    <R> R insideGuards(EndpointBindings changing, Supplier<R> action) {
        guards = null;
        return CallGuards.of(Stream.concat(Stream.of(changing), enabled())).insideAll(action);
    }

    private Stream<EndpointBindings> enabled() {
        return all(Endpoint.class).filter(Endpoint::wasEnabled).map(one -> one.bindings);
    }

    /** The queues and counters whose guards are entered by calls on some endpoints, each once. */
    private record CallGuards(List<CompletionQueue> queues, List<Counter> counters) {
        static CallGuards of(Stream<EndpointBindings> endpoints) {
            List<EndpointBindings> all = endpoints.toList();
            return new CallGuards(all.stream().flatMap(one -> one.queues().stream()).distinct().toList(),
                    all.stream().flatMap(one -> one.counters.all().stream()).distinct().toList());
        }

        <R> R insideAll(Supplier<R> action) {
            return ThreadGuard.insideAll(queues, queue -> queue.guard.enterFromAnyThread(),
                    () -> ThreadGuard.insideAll(counters, Counter::enterWithoutWaiters, action));
        }
    }
}
