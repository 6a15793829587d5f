package io.ofi4j.util;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.info.Direction;
import java.util.Arrays;
import java.util.Optional;

/** An endpoint and a queue that belong together. */
final class BoundQueue {
    private BoundQueue() {}

    /** @throws IllegalArgumentException if no operation of the endpoint completes in the queue */
    static void require(Endpoint endpoint, CompletionQueue queue) {
        Optional<CompletionQueue> wanted = Optional.of(queue);
        if (Arrays.stream(Direction.values())
                .noneMatch(direction -> endpoint.completionQueue(direction).equals(wanted))) {
            throw new IllegalArgumentException("no operation of " + endpoint + " completes in " + queue
                    + ": pass a queue that is bound to the endpoint");
        }
    }
}
