package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.engine.Deadlines;
import java.time.Duration;

/** Makes progress until the provider accepts an operation, within the endpoint's timeout. */
final class PostRetry {
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    private static final int TURNS_PER_CLOCK = 64;

    private final Endpoint endpoint;
    private final String operation;
    private final Duration timeout;
    private final long start = System.nanoTime();
    private final Object recording = RECORDER.posting();
    private int turns;

    PostRetry(Endpoint endpoint, String operation) {
        this.endpoint = endpoint;
        this.operation = operation;
        this.timeout = endpoint.postTimeout();
    }

    void progress() {
        endpoint.domain.queues.progress();
        if (++turns % TURNS_PER_CLOCK == 0 && System.nanoTime() - start >= Deadlines.nanos(timeout)) {
            RECORDER.posted(recording, endpoint.info().provider(), operation, turns, false);
            throw new FabricTimeoutException(operation, timeout, "The provider " + endpoint.info().provider()
                    + " has no room: is the peer there and polling its queue, and does this side poll for its completions?");
        }
        Waiting.YIELD.pause(turns);
    }

    /** Records that the operation was accepted. */
    void accepted() {
        RECORDER.posted(recording, endpoint.info().provider(), operation, turns, true);
    }
}
