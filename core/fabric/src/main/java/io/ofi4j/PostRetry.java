package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Makes progress until the provider accepts an operation, within the endpoint's timeout. */
final class PostRetry {
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    private static final int TURNS_PER_CLOCK = 64;
    private static final int SPINS = 16;
    private static final long SLOW_NANOS = 1_000_000;
    /** Yields soon: the thread that makes room may need this processor. */
    private static final Waiting WAITING = Waiting.backoff(SPINS, Integer.MAX_VALUE, Duration.ofNanos(1),
            Duration.ofNanos(1));

    private PostRetry() {}

    /** Repeats an attempt that found no room, for an operation that completes on this queue. The peer may be null. */
    static void until(Endpoint endpoint, CompletionQueue queue, String operation, Peer peer, BooleanSupplier attempt) {
        Duration timeout = endpoint.postTimeout();
        String provider = endpoint.info().provider();
        Object recording = RECORDER.posting(); // begins before the clock is read, so that it covers the whole timeout
        long start = System.nanoTime();
        int turns = 0;
        while (!attempt.getAsBoolean()) {
            endpoint.domain.queues.progress();
            if (++turns % TURNS_PER_CLOCK == 0 && System.nanoTime() - start >= Deadlines.nanos(timeout)) {
                RECORDER.posted(recording, provider, operation, turns, false);
                endpoint.slowPosts.incrementAndGet();
                throw new FabricTimeoutException(operation, timeout, timeoutReason(queue, provider, peer));
            }
            WAITING.pause(turns);
        }
        RECORDER.posted(recording, provider, operation, turns, true);
        if (turns > SPINS && System.nanoTime() - start >= SLOW_NANOS) { endpoint.slowPosts.incrementAndGet(); }
    }

    private static String timeoutReason(CompletionQueue queue, String provider, Peer peer) {
        if (queue.isBufferFull()) { return queue + " is full, with " + queue.size() + " completions: poll it."; }
        if (queue.inFlight() == queue.size()) {
            return queue.size() + " operations are in flight on " + queue
                    + ", as many as it has room for: poll it, or open a larger one with"
                    + " Domain.openCompletionQueue(int).";
        }
        return "The provider " + provider + " has no room: is " + (peer == null ? "the peer" : peer)
                + " there and polling its queue, and does this side poll for its completions?";
    }
}
