package io.ofi4j.conformance;

/** What a trial needs is not on this machine, and the provider has nothing to do with it. */
public final class Untried extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A trial that was not run.
     *
     * @param message what is missing
     */
    public Untried(String message) { super(message); }
}
