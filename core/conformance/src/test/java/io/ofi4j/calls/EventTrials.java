package io.ofi4j.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.Map;

/** Trials of the calls of fi_eq(3). */
final class EventTrials {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Event WRITTEN = new Event.Notification(7, 8);

    private EventTrials() {}

    /** What is tried on an event queue. */
    private interface Body {
        void run(EventQueue queue);
    }

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_eq_read, fi_eq_write", of(WaitObject.NONE, queue -> {
            assertThat(queue.read()).isEmpty();
            queue.write(7, 8);
            assertThat(queue.read()).contains(WRITTEN);
        }));
        all.put("blocking read of events", of(WaitObject.UNSPECIFIED, queue -> {
            assertThatThrownBy(() -> queue.read(SHORT)).isInstanceOf(FabricTimeoutException.class);
            Thread.ofPlatform().start(() -> queue.write(7, 8));
            assertThat(queue.read(Pair.DEADLINE)).isEqualTo(WRITTEN);
        }));
        all.put("fi_trywait of an event queue", of(WaitObject.FD, queue -> {
            assertThat(Waiting.block(SHORT, queue)).isFalse();
            queue.write(7, 8);
            assertThat(Waiting.block(Pair.DEADLINE, queue)).isTrue();
            assertThat(queue.read()).contains(WRITTEN);
        }));
        all.put("fi_eq_readerr, fi_eq_strerror", ConnectionTrials.of(listener -> {
            Endpoint client = listener.client();
            client.connection().connect(listener.passive.address());
            listener.request().reject((byte) 1);
            assertThat(listener.await(listener.farEvents)).isInstanceOfSatisfying(Event.Failed.class, failed -> {
                assertThat(failed.error().endpoint()).contains(client);
                assertThat(failed.error().text()).isNotBlank();
            });
        }));
    }

    private static CallTrial of(WaitObject object, Body body) {
        return column -> {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(column.hints()));
                    EventQueue queue = fabric
                            .openEventQueue(EventQueueAttributes.defaults().waitObject(object).writable())) {
                body.run(queue);
            }
        };
    }
}
