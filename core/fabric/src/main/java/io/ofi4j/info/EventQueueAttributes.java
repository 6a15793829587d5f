package io.ofi4j.info;

import java.util.OptionalInt;

/**
 * How an event queue is opened; {@code struct fi_eq_attr}, fi_eq(3). Immutable: each method returns a changed copy.
 *
 * <pre>{@code
 * EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable()
 * }</pre>
 */
public final class EventQueueAttributes extends Changeable<EventQueueAttributes> {
    private int size;
    private WaitObject waitObject = WaitObject.NONE;
    private boolean writable;

    private EventQueueAttributes() {}

    /** {@return the provider's preferred size, no wait object, and no events from the application} */
    public static EventQueueAttributes defaults() {
        return new EventQueueAttributes();
    }

    /** {@return a copy with room for at least this many events, 1 or more} */
    public EventQueueAttributes size(int events) {
        if (events < 1) { throw new IllegalArgumentException("an event queue holds at least 1 event, not " + events); }
        return with(copy -> copy.size = events);
    }

    /**
     * {@return a copy with this wait object}
     *
     * @throws UnsupportedOperationException if it is {@code SET}, {@code MUTEX_COND} or {@code POLLFD}
     */
    public EventQueueAttributes waitObject(WaitObject wanted) {
        return with(copy -> copy.waitObject = wanted.requireOffered());
    }

    /** {@return a copy whose queue accepts events from the application; FI_WRITE} */
    public EventQueueAttributes writable() {
        return with(copy -> copy.writable = true);
    }

    /** {@return the number of events; empty for the provider's preference} */
    public OptionalInt size() {
        return size == 0 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    /** {@return the object that threads block on} */
    public WaitObject waitObject() { return waitObject; }

    /** {@return whether it accepts events from the application} */
    public boolean isWritable() { return writable; }
}
