package io.ofi4j.info;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * How an event queue is opened; {@code struct fi_eq_attr}, fi_eq(3). Immutable: each method gives a changed copy.
 *
 * <pre>{@code
 * EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable()
 * }</pre>
 */
public final class EventQueueAttributes implements Cloneable {
    private int size;
    private WaitObject waitObject = WaitObject.NONE;
    private boolean writable;

    private EventQueueAttributes() {
    }

    /** {@return the size that the provider prefers, no wait object, and no events of the application's own} */
    public static EventQueueAttributes defaults() {
        return new EventQueueAttributes();
    }

    /**
     * {@return a copy of that size}
     *
     * @param events how many events it shall hold at least, 1 or more
     * @throws IllegalArgumentException if it is below 1
     */
    public EventQueueAttributes size(int events) {
        if (events < 1) {
            throw new IllegalArgumentException("an event queue holds at least 1 event, not " + events);
        }
        EventQueueAttributes copy = copy();
        copy.size = events;
        return copy;
    }

    /**
     * {@return a copy with that wait object}
     *
     * @param wanted what threads block on
     * @throws UnsupportedOperationException if this library does not offer it
     */
    public EventQueueAttributes waitObject(WaitObject wanted) {
        EventQueueAttributes copy = copy();
        copy.waitObject = Objects.requireNonNull(wanted).requireOffered();
        return copy;
    }

    /** {@return a copy whose queue takes events of the application's own; FI_WRITE} */
    public EventQueueAttributes writable() {
        EventQueueAttributes copy = copy();
        copy.writable = true;
        return copy;
    }

    /** {@return how many events it shall hold; empty where the provider's preference counts} */
    public OptionalInt size() {
        return size == 0 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    /** {@return what threads block on} */
    public WaitObject waitObject() {
        return waitObject;
    }

    /** {@return whether it takes events of the application's own} */
    public boolean isWritable() {
        return writable;
    }

    private EventQueueAttributes copy() {
        try {
            return (EventQueueAttributes) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
