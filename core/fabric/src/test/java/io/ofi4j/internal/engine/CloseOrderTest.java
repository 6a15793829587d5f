package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A parent must not be closed natively before a child whose close was postponed, or queued behind a postponed one. */
@Tag("gate")
class CloseOrderTest {
    private final CloseOrder order = new CloseOrder();
    private final List<String> closed = new ArrayList<>();
    private final Object endpoint = new Object();

    @Test
    void closesQueueBehindAPostponedOne() {
        order.postpone(endpoint);
        close("queue");
        assertThat(closed).isEmpty();

        order.release(endpoint);

        assertThat(closed).containsExactly("queue");
        assertThat(order.hasPostponed()).isFalse();
    }

    @Test
    void aCloseThatComesWhileQueuedOnesRunIsAfterThem() {
        order.postpone(endpoint);
        order.close(() -> {
            assertThat(order.hasPostponed()).isTrue();
            close("domain"); // as another thread may
            closed.add("queue");
            return 0;
        });
        close("vector");

        order.release(endpoint);

        assertThat(closed).containsExactly("queue", "vector", "domain");
        assertThat(order.hasPostponed()).isFalse();
    }

    @Test
    void queuedClosesWaitForEachPostponedOne() {
        Object other = new Object();
        order.postpone(endpoint);
        order.postpone(other);
        close("queue");

        order.release(endpoint);
        assertThat(closed).isEmpty();

        order.release(other);
        assertThat(closed).containsExactly("queue");
    }

    @Test
    void aQueuedCloseThatThrowsHoldsUpNoLaterOne() {
        order.postpone(endpoint);
        order.close(() -> {
            throw new IllegalStateException("held up");
        });

        assertThatThrownBy(() -> order.release(endpoint)).hasMessage("held up");
        close("queue");

        assertThat(closed).containsExactly("queue");
    }

    private void close(String name) {
        order.close(() -> {
            closed.add(name);
            return 0;
        });
    }
}
