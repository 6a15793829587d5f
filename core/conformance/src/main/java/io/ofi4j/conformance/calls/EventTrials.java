package io.ofi4j.conformance.calls;

import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Trials of the calls of fi_eq(3). */
final class EventTrials {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Event WRITTEN = new Event.Notification(7, 8);

    private EventTrials() {}

    /** What is tried on an event queue. */
    private interface Body {
        void run(EventQueue queue, Duration deadline);
    }

    static void addTo(Map<String, Trial> all) {
        all.put("fi_eq_read, fi_eq_write", of(WaitObject.NONE, (queue, deadline) -> {
            Check.equal("an event of an empty queue", queue.read(), Optional.empty());
            queue.write(7, 8);
            Check.equal("the event", queue.read(), Optional.of(WRITTEN));
        }));
        all.put("blocking read of events", of(WaitObject.UNSPECIFIED, (queue, deadline) -> {
            Check.thrown("a read of an empty queue", FabricTimeoutException.class, () -> queue.read(SHORT));
            Thread.ofPlatform().start(() -> queue.write(7, 8));
            Check.equal("the event", queue.read(deadline), WRITTEN);
        }));
        all.put("fi_trywait of an event queue", of(WaitObject.FD, (queue, deadline) -> {
            Check.holds("a wait for an empty queue ends at its deadline", !Waiting.block(SHORT, queue));
            queue.write(7, 8);
            Check.holds("an event ends a wait", Waiting.block(deadline, queue));
            Check.equal("the event", queue.read(), Optional.of(WRITTEN));
        }));
        all.put("fi_eq_readerr, fi_eq_strerror", ConnectionTrials.of(listener -> {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            listener.request().reject((byte) 1);
            Event event = listener.await(listener.clientEvents);
            if (!(event instanceof Event.Failed failed)) { throw new Wrong("the event", event.toString(), "Failed"); }
            Check.equal("the endpoint of the event", failed.error().endpoint(), Optional.of(client));
            Check.holds("the error has a text", !failed.error().text().isBlank());
        }));
    }

    private static Trial of(WaitObject object, Body body) {
        return subject -> {
            try (Fabric fabric = Libfabric.load().openFabric(Subject.info(subject.hints()));
                    EventQueue queue = fabric
                            .openEventQueue(EventQueueAttributes.defaults().waitObject(object).writable())) {
                body.run(queue, subject.deadline());
            }
        };
    }
}
