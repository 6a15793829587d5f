package io.ofi4j;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.DataReceives;
import io.ofi4j.internal.Handle;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/** The receives that endpoints of one queue have posted for peers' writes with data. Used inside the queue's guard. */
final class ReceivesForData {
    private record Posted(Endpoint endpoint, DataReceives receives, int count, Arena memory) {
    }

    private final List<Posted> all = new ArrayList<>();
    private int posted;

    /** Posts those of an endpoint that was just enabled. */
    void post(Endpoint endpoint, Handle handle, int count) {
        Arena memory = Arena.ofShared();
        all.add(new Posted(endpoint, new DataReceives(memory, handle, count, endpoint.quirks.has(Fact.CRITICAL_POSTS)),
                count, memory));
        posted += count;
    }

    /** @throws IllegalStateException if a queue has too little room for the receives of another endpoint */
    void requireRoom(CompletionQueue queue, Endpoint endpoint, int count) {
        if (posted + count > queue.size()) {
            throw new IllegalStateException(queue + " has room for " + queue.size() + " receives, and " + posted
                    + " are taken: " + endpoint + " needs " + count
                    + ". Give it another queue, or open a larger one with Domain.openCompletionQueue(int)");
        }
    }

    /** Whether a completion is of one of them. */
    boolean own(long context) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).receives.owns(context)) {
                return true;
            }
        }
        return false;
    }

    /** Posts one again, if the completion is of one of them. */
    void completed(long context) {
        for (int i = 0; i < all.size(); i++) {
            DataReceives receives = all.get(i).receives;
            if (receives.owns(context)) {
                receives.completed(context);
                return;
            }
        }
    }

    /** Frees those of an endpoint that is closed, whose completions were all read. */
    void forget(Endpoint endpoint) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).endpoint == endpoint) {
                Posted gone = all.remove(i);
                posted -= gone.count;
                gone.memory.close();
            }
        }
    }
}
