package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.ReceivePool;
import io.ofi4j.internal.ffi.Handle;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/** The receives that endpoints of one queue have posted for peers' writes with data. Used inside the queue's guard. */
public final class QueueReceives {
    private record Posted(Object endpoint, ReceivePool receives, int count, Arena memory) {
    }

    private final List<Posted> all = new ArrayList<>();
    private int posted;

    /** Posts those of an endpoint that was just enabled. */
    public void post(Object endpoint, Handle handle, int count, boolean critical) {
        Arena memory = Arena.ofShared();
        all.add(new Posted(endpoint, new ReceivePool(memory, handle, count, critical), count, memory));
        posted += count;
    }

    /** @throws IllegalStateException if a queue has too little room for the receives of another endpoint */
    public void requireRoom(Object queue, int size, Object endpoint, int count) {
        if (posted + count > size) {
            throw new IllegalStateException(queue + " has room for " + size + " receives, and " + posted
                    + " are taken: " + endpoint + " needs " + count
                    + ". Give it another queue, or open a larger one with Domain.openCompletionQueue(int)");
        }
    }

    /** Whether a completion is of one of them. */
    public boolean own(long context) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).receives.owns(context)) {
                return true;
            }
        }
        return false;
    }

    /** Posts one again, if the completion is of one of them. */
    public void completed(long context) {
        for (int i = 0; i < all.size(); i++) {
            ReceivePool receives = all.get(i).receives;
            if (receives.owns(context)) {
                receives.completed(context);
                return;
            }
        }
    }

    /** Frees those of an endpoint that is closed, whose completions were all read. */
    public void forget(Object endpoint) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).endpoint == endpoint) {
                Posted gone = all.remove(i);
                posted -= gone.count;
                gone.memory.close();
            }
        }
    }
}
