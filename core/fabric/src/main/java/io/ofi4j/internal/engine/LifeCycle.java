package io.ofi4j.internal.engine;

import java.util.function.IntSupplier;

/**
 * The states of an object that is open from the start and closed once. Endpoints and regions have states of their own.
 * The caller holds the object's lock in {@link #begin}, so that its earlier checks stay true. The steps of the close
 * run outside that lock.
 *
 * <pre>
 * OPEN -&gt; CLOSING -&gt; CLOSED, or
 * OPEN -&gt; CLOSING -&gt; POSTPONED -&gt; CLOSED where {@link CloseOrder} postpones fi_close, or
 * CLOSING -&gt; CLOSE_INTERRUPTED -&gt; CLOSING where a step throws: another call of close does all steps again.
 * </pre>
 */
public final class LifeCycle {
    /** The states of the object. */
    private enum State {
        OPEN, CLOSING, CLOSE_INTERRUPTED, POSTPONED, CLOSED
    }

    private volatile State state = State.OPEN;

    /** {@return whether it may be used} */
    public boolean isOpen() { return state == State.OPEN; }

    /** @throws IllegalStateException if a close has begun */
    public void requireOpen(Object object) {
        if (!isOpen()) { throw new IllegalStateException(object + " is closed"); }
    }

    /** {@return whether a call of close has something to do: none has begun, or the last one has thrown} */
    public boolean mayClose() {
        return state == State.OPEN || state == State.CLOSE_INTERRUPTED;
    }

    /** A close begins. From now on the object must not be used. */
    public synchronized void begin() {
        if (!mayClose()) { throw new IllegalStateException("it is " + state); }
        state = State.CLOSING;
    }

    /**
     * Runs the steps of a close after {@link #begin}. Returns the status of fi_close. If a step throws, the next close
     * runs all steps again.
     */
    public int finish(IntSupplier steps) {
        try {
            int status = steps.getAsInt();
            leaveClosing(State.POSTPONED);
            return status;
        } catch (Throwable t) {
            leaveClosing(State.CLOSE_INTERRUPTED);
            throw t;
        }
    }

    private synchronized void leaveClosing(State next) { if (state == State.CLOSING) { state = next; } }

    /** {@return whether to call fi_close now} Only the first caller gets true. */
    public synchronized boolean beginNativeClose() {
        boolean isFirst = state != State.CLOSED;
        state = State.CLOSED;
        return isFirst;
    }

    /** {@return whether fi_close was called} */
    public boolean isClosedNatively() { return state == State.CLOSED; }
}
