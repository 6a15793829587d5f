package io.ofi4j.verbs;

import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.verbs.internal.WorkRequest;
import java.lang.foreign.MemorySegment;

/**
 * A window: a range of a region that peers can access with a key and rights of its own, until the window is
 * invalidated; {@code struct ibv_mw}, ibv_alloc_mw(3). {@link QueuePair#tryBind} binds it to a range,
 * {@link QueuePair#tryInvalidate} invalidates it. Both are operations that complete. Any thread may use it.
 *
 * <p>A window is free, then bound, then free again; calls that do not fit its {@link State} throw. Each bind gives a
 * new key, of 255 (type 1: 127). A window that has had all its keys is retired, so that an old key never gives access
 * to a new range. Closing a window invalidates it too.
 *
 * <p>Both sides must agree on which of them invalidates a window of type 2: the owner, or the peer with
 * {@link QueuePair#trySendInvalidate}. If both try at the same time, the later attempt fails, and a software device may
 * fail with it.
 */
public final class MemoryWindow implements AutoCloseable {
    private static final int MAX_KEYS = 255;

    /** The type of a window. */
    public enum Type {
        /** Type 1, bound with ibv_bind_mw(3). The driver chooses its key. Any queue pair of the domain may use it. */
        ONE,
        /** Type 2B, bound by a work request. It is for the peer of one queue pair, who can invalidate it. */
        TWO
    }

    /** The states of a window. */
    public enum State {
        /** Not bound. */
        FREE,
        /**
         * A bind is in flight. The key can be sent to the peer on the same queue pair: operations after the bind find
         * the window bound.
         */
        BINDING,
        /** Bound. */
        BOUND,
        /** An invalidation is in flight. */
        INVALIDATING,
        /** It is free, but has had all its keys: open another window. */
        RETIRED,
        /** Closed. */
        CLOSED
    }

    final ProtectionDomain domain;
    final MemorySegment pointer;

    private final Type type;
    private State state = State.FREE;
    private int keys;
    private QueuePair queuePair;
    /** The position of the last bind among the operations of its queue. */
    private int bindPosition;
    private VerbsMemoryRegion region;
    private RemoteMemory remote;

    MemoryWindow(ProtectionDomain domain, Type type) {
        this.domain = domain;
        this.type = type;
        this.pointer = domain.context.ops.ibv_alloc_mw(domain.pointer, type.ordinal() + 1);
    }

    /** {@return the type} */
    public Type type() { return type; }

    /** {@return the state; binds and invalidations end when their completion is polled} */
    public synchronized State state() {
        return state;
    }

    /**
     * {@return the memory of this window, as peers need it}
     *
     * @throws IllegalStateException if the window is not bound, and no bind is in flight
     */
    public synchronized RemoteMemory remote() {
        if (state != State.BOUND && state != State.BINDING) { throw wrongState("share its key", "bound"); }
        return remote;
    }

    private IllegalStateException wrongState(String what, String needed) {
        return new IllegalStateException(
                "to " + what + ", a window must be " + needed + ", and this one is " + state + switch (state) {
                    case RETIRED -> ": all of its keys are used up. Open another window";
                    case BINDING, INVALIDATING -> ": poll the completion of its operation first";
                    default -> "";
                });
    }

    synchronized void requireFree() { if (state != State.FREE) { throw wrongState("be bound", "free"); } }

    synchronized void requireBound(QueuePair by) {
        if (state != State.BOUND && state != State.BINDING) { throw wrongState("be invalidated", "bound"); }
        if (queuePair != by) {
            throw new IllegalArgumentException(
                    this + " is bound on " + queuePair + ": invalidate it on that queue pair");
        }
    }

    int nextKey() {
        int key = WorkRequest.key(pointer);
        return key & ~0xff | key + 1 & 0xff;
    }

    int key() { return WorkRequest.key(pointer); }

    /** Records that a bind was posted, at this position of its queue. */
    synchronized void binding(QueuePair by, int position, VerbsMemoryRegion of, long offset, long length, int access,
            int key) {
        WorkRequest.key(pointer, key);
        state = State.BINDING;
        keys++;
        queuePair = by;
        bindPosition = position;
        region = of;
        remote = new RemoteMemory(of.base + offset, length, key, access, type == Type.TWO);
        of.windows.add(this);
        by.windows.add(this);
    }

    /**
     * {@return a bind of length 0, which invalidates a window of type 1} It has the region, which a driver may read.
     */
    WorkRequest.Binding emptyBinding() {
        return new WorkRequest.Binding(region.nativeRegion.pointer(), region.base, 0, 0);
    }

    synchronized void invalidating() {
        state = State.INVALIDATING;
        if (type == Type.ONE) { keys++; } // the bind of length 0 uses a key
    }

    /**
     * Records the end of a bind or an invalidation. After a failed invalidation the window is bound, and only closing
     * invalidates it. The completion of a bind may come after the peer has invalidated the window: it is not that of a
     * later bind.
     */
    synchronized void completed(QueuePair by, int position, WorkKind kind, boolean success) {
        if (by != queuePair || kind == WorkKind.BIND && position != bindPosition) { return; }
        if (kind == WorkKind.BIND && success) {
            state = state == State.BINDING ? State.BOUND : state;
        } else if (kind == WorkKind.BIND) {
            freed();
        } else if (success) {
            freed();
        } else if (state == State.INVALIDATING) { state = State.BOUND; }
    }

    /** Records that the peer has invalidated the window, if it has this key. Returns whether it has. */
    synchronized boolean invalidated(int key) {
        boolean matches = (state == State.BOUND || state == State.BINDING) && key() == key;
        if (matches) { freed(); }
        return matches;
    }

    private void freed() {
        int needed = type == Type.ONE ? 2 : 1;
        state = keys + needed > MAX_KEYS ? State.RETIRED : State.FREE;
        detach();
    }

    private void detach() {
        if (region != null) { region.windows.remove(this); }
        if (queuePair != null) { queuePair.windows.remove(this); }
        region = null;
        queuePair = null;
        remote = null;
    }

    /**
     * Invalidates the window if it is bound, and closes it; ibv_dealloc_mw(3).
     *
     * @throws IllegalStateException if a bind or an invalidation is in flight: poll its completion, if necessary after
     *         {@link QueuePair#fail}
     */
    @Override
    public synchronized void close() {
        StackRoom.require();
        if (state == State.CLOSED) { return; }
        if (state == State.BINDING || state == State.INVALIDATING) { throw wrongState("be closed", "free or bound"); }
        domain.context.ops.ibv_dealloc_mw(pointer); // first: if it fails, the region is still in use
        detach();
        state = State.CLOSED;
        domain.windows.remove(this);
        domain.children.remove(this);
    }

    @Override
    public String toString() { return "MemoryWindow of type " + type; }
}
