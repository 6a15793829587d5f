package io.ofi4j.info;

/** How a counter is opened; {@code struct fi_cntr_attr}, fi_cntr(3). Immutable: each method gives a changed copy. */
public final class CounterAttributes {
    private static final CounterAttributes DEFAULTS = new CounterAttributes(WaitObject.NONE);

    private final WaitObject waitObject;

    private CounterAttributes(WaitObject waitObject) {
        this.waitObject = waitObject;
    }

    /** {@return a counter of completions without a wait object} */
    public static CounterAttributes defaults() {
        return DEFAULTS;
    }

    /**
     * {@return a copy with that wait object}
     *
     * @param wanted what threads block on
     * @throws UnsupportedOperationException if this library does not offer it
     */
    public CounterAttributes waitObject(WaitObject wanted) {
        return new CounterAttributes(wanted.requireOffered());
    }

    /** {@return what threads block on} */
    public WaitObject waitObject() {
        return waitObject;
    }
}
