package io.ofi4j.info;

/** How a counter is opened; {@code struct fi_cntr_attr}, fi_cntr(3). Immutable: each method returns a changed copy. */
public final class CounterAttributes {
    private final WaitObject waitObject;

    private CounterAttributes(WaitObject waitObject) { this.waitObject = waitObject; }

    /** {@return a counter of completions without a wait object} */
    public static CounterAttributes defaults() {
        return new CounterAttributes(WaitObject.NONE);
    }

    /**
     * {@return a copy with this wait object}
     *
     * @throws UnsupportedOperationException if it is {@code SET}, {@code MUTEX_COND} or {@code POLLFD}
     */
    public CounterAttributes waitObject(WaitObject wanted) { return new CounterAttributes(wanted.requireOffered()); }

    /** {@return the object that threads block on} */
    public WaitObject waitObject() { return waitObject; }
}
