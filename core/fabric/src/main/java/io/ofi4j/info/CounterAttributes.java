package io.ofi4j.info;

/** How a counter is opened; {@code struct fi_cntr_attr}, fi_cntr(3). Immutable: each method returns a changed copy. */
public final class CounterAttributes {
    private static final CounterAttributes DEFAULTS = new CounterAttributes(WaitObject.NONE, false);

    private final WaitObject waitObject;
    private final boolean countsBytes;

    private CounterAttributes(WaitObject waitObject, boolean countsBytes) {
        this.waitObject = waitObject;
        this.countsBytes = countsBytes;
    }

    /** {@return a counter of completions without a wait object} */
    public static CounterAttributes defaults() {
        return DEFAULTS;
    }

    /**
     * {@return a copy with this wait object}
     *
     * @throws UnsupportedOperationException if it is {@code SET}, {@code MUTEX_COND} or {@code POLLFD}
     */
    public CounterAttributes waitObject(WaitObject wanted) {
        return new CounterAttributes(wanted.requireOffered(), countsBytes);
    }

    /**
     * {@return a copy whose counter adds up the bytes of operations instead of their number; FI_CNTR_EVENTS_BYTES} Few
     * providers have it.
     */
    public CounterAttributes bytes() { return new CounterAttributes(waitObject, true); }

    /** {@return the object that threads block on} */
    public WaitObject waitObject() { return waitObject; }

    /** {@return whether it counts bytes instead of operations} */
    public boolean countsBytes() { return countsBytes; }
}
