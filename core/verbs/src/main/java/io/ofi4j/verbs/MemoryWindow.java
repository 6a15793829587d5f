package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.WorkRequest;
import java.lang.foreign.MemorySegment;

/**
 * A window on a region: a range of it, for peers, with a key and rights of its own, which is taken back at once;
 * {@code struct ibv_mw}. {@link QueuePair#tryBind} binds it, {@link QueuePair#tryInvalidate} takes it back, and both
 * are operations that complete. Any thread may use it.
 *
 * <p>A window is free, then bound, then free again, and nothing else is let through. Each bind gives another key, of
 * 255 (type 1: 127); a window that has had all of them is retired, so that an old key never opens a new range. Closing
 * a window takes it back, too.
 *
 * <p>Who takes a window of type 2 back is agreed between both sides: the owner, or the peer with
 * {@link QueuePair#trySendInvalidate}. If both try at the same time, the later one fails, and Soft-RoCE's kernel may
 * fail with it.
 */
public final class MemoryWindow implements AutoCloseable {
    private static final int MAX_KEYS = 255;

    /** The type of a window. */
    public enum Type {
        /** Bound with ibv_bind_mw(3); the driver chooses its key; any queue pair of the domain may use it. */
        ONE,
        /** Type 2B, bound by a work request; for the peer of one queue pair alone; can be invalidated by the peer. */
        TWO
    }

    /** Where a window is in its life. */
    public enum State {
        /** Not bound. */
        FREE,
        /** A bind is in flight. Its key can be given away: what comes behind on the same queue pair finds it bound. */
        BINDING,
        /** Bound. */
        BOUND,
        /** It is being taken back. */
        INVALIDATING,
        /** Free, and has had all of its keys: open another. */
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
    private VerbsMemoryRegion region;
    private RemoteMemory remote;

    MemoryWindow(ProtectionDomain domain, Type type) {
        this.domain = domain;
        this.type = type;
        this.pointer = domain.context.ops.ibv_alloc_mw(domain.pointer, type.ordinal() + 1);
        domain.children.add(this);
        domain.windows.add(this);
    }

    /** {@return the type} */
    public Type type() { return type; }

    /** {@return where it is in its life; binds and invalidations end when their completion is polled} */
    public synchronized State state() {
        return state;
    }

    /**
     * {@return the window for peers}
     *
     * @throws IllegalStateException if it is not bound, and no bind is in flight
     */
    public synchronized RemoteMemory remote() {
        if (state != State.BOUND && state != State.BINDING) { throw wrongState("give its key away", "bound"); }
        return remote;
    }

    private IllegalStateException wrongState(String what, String needed) {
        return new IllegalStateException("to " + what + ", a window must be " + needed + ", and this one is " + state
                + (state == State.RETIRED ? ": it has had all of its keys. Open another" : ""));
    }

    synchronized void requireFree() { if (state != State.FREE) { throw wrongState("be bound", "free"); } }

    synchronized void requireBound(QueuePair by) {
        if (state != State.BOUND && state != State.BINDING) { throw wrongState("be taken back", "bound"); }
        if (queuePair != by) {
            throw new IllegalArgumentException(this + " is bound on " + queuePair + ": take it back there");
        }
    }

    int nextKey() {
        int key = WorkRequest.key(pointer);
        return key & ~0xff | key + 1 & 0xff;
    }

    int key() { return WorkRequest.key(pointer); }

    /** A bind was posted. */
    synchronized void binding(QueuePair by, VerbsMemoryRegion of, long offset, long length, int access, int key) {
        WorkRequest.key(pointer, key);
        state = State.BINDING;
        keys++;
        queuePair = by;
        region = of;
        remote = new RemoteMemory(of.base + offset, length, key, access, type == Type.TWO);
        of.windows.add(this);
        by.windows.add(this);
    }

    /** A bind of length 0 takes a window of type 1 back; with its region, which Soft-RoCE's driver reads. */
    WorkRequest.Binding emptyBinding() {
        return new WorkRequest.Binding(region.nativeRegion.pointer(), region.base, 0, 0);
    }

    synchronized void invalidating() {
        state = State.INVALIDATING;
        if (type == Type.ONE) { keys++; } // of the bind to nothing
    }

    /** A bind or an invalidation has ended. A failed invalidation leaves it bound: only closing takes it back then. */
    synchronized void completed(WorkKind kind, boolean success) {
        if (state == State.CLOSED) { return; }
        if (kind == WorkKind.BIND && success) {
            state = state == State.BINDING ? State.BOUND : state;
        } else if (kind == WorkKind.BIND) {
            freed();
        } else if (success) {
            freed();
        } else if (state == State.INVALIDATING) { state = State.BOUND; }
    }

    /** The peer has taken it back, if it has this key; whether it has. */
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
     * Takes the window back, if it is bound, and closes it; ibv_dealloc_mw(3).
     *
     * @throws IllegalStateException if a bind or an invalidation is in flight: poll its completion, after
     *         {@link QueuePair#fail} if need be
     */
    @Override
    public synchronized void close() {
        if (state == State.CLOSED) { return; }
        if (state == State.BINDING || state == State.INVALIDATING) {
            throw wrongState("be closed", "free or bound, its operation polled");
        }
        detach();
        state = State.CLOSED;
        try {
            domain.context.ops.ibv_dealloc_mw(pointer);
        } finally {
            domain.windows.remove(this);
            domain.children.remove(this);
        }
    }

    @Override
    public String toString() { return "MemoryWindow of type " + type; }
}
