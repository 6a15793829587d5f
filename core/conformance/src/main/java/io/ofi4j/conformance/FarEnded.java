package io.ofi4j.conformance;

/** The process with the far end has ended in the middle of a trial. */
public final class FarEnded extends Wrong {
    private static final long serialVersionUID = 1L;

    /**
     * An end that was not asked for.
     *
     * @param ending how it ended
     */
    public FarEnded(String ending) { super("the process of the far end: " + ending); }

    boolean isKilled() { return getMessage().endsWith(JavaProcess.KILLED); }
}
