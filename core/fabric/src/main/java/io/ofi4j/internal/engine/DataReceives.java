package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.DataReceivePool;
import io.ofi4j.internal.ffi.Handle;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * The receives that ofi4j has posted itself on endpoints of one queue: those for peers' writes with data, and those of
 * {@link MessageDrain}. Used inside the queue's guard.
 */
public final class DataReceives {
    private record PostedPool(Object endpoint, DataReceivePool pool, int count, Arena memory) {}

    private final List<PostedPool> pools = new ArrayList<>();
    private final List<MessageDrain> drains = new ArrayList<>();
    private int posted;

    /** Posts the receives of an endpoint that was just enabled. */
    public void post(Object endpoint, Handle handle, int count, boolean critical) {
        Arena memory = Arena.ofShared();
        pools.add(new PostedPool(endpoint, new DataReceivePool(memory, handle, count, critical), count, memory));
        posted += count;
    }

    public void requireRoom(Object queue, int size, Object endpoint, int count) {
        if (posted + count > size) {
            throw new IllegalStateException(queue + " has room for " + size + " receives, and " + posted
                    + " are taken: " + endpoint + " needs " + count
                    + ". Give it another queue, or open a larger one with Domain.openCompletionQueue(int)");
        }
    }

    /** The drain of an endpoint, which {@link #release} frees. */
    public MessageDrain drain(Handle endpoint) {
        for (MessageDrain drain : drains) {
            if (drain.isOf(endpoint)) { return drain; }
        }
        drains.add(new MessageDrain(endpoint));
        return drains.getLast();
    }

    /** Whether a receive of a drain has ended, with an error number or 0. */
    public boolean hasDrained(long context, int error) {
        for (int i = 0; i < drains.size(); i++) { // no iterator: this is on the data path
            if (drains.get(i).ended(context, error)) { return true; }
        }
        return false;
    }

    public boolean isEmpty() { return pools.isEmpty() && drains.isEmpty(); }

    public boolean owns(long context) { return find(context) != null; }

    /** Posts a receive again that has completed. */
    public void repost(long context) {
        DataReceivePool pool = find(context);
        if (pool != null) { pool.post(context); }
    }

    private DataReceivePool find(long context) {
        for (int i = 0; i < pools.size(); i++) { // no iterator: this is on the data path
            if (pools.get(i).pool.owns(context)) { return pools.get(i).pool; }
        }
        return null;
    }

    /** Frees the receives of a closed endpoint, whose completions were all read. */
    public void release(Object endpoint, Handle handle) {
        drains.removeIf(drain -> {
            boolean isIts = drain.isOf(handle);
            if (isIts) { drain.release(); }
            return isIts;
        });
        for (int i = pools.size() - 1; i >= 0; i--) {
            if (pools.get(i).endpoint == endpoint) {
                PostedPool released = pools.remove(i);
                posted -= released.count;
                released.memory.close();
            }
        }
    }
}
