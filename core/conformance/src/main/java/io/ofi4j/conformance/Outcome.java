package io.ofi4j.conformance;

/** What came of a trial. */
public enum Outcome {
    /** It did what its man page says. */
    WORKS,
    /** The provider does not have it. */
    NOT_OFFERED("not offered"),
    /** ofi4j refuses it, because the provider does it wrong. */
    REFUSED,
    /** It does not do what its man page says, as is known of this provider and version. */
    KNOWN("known to be wrong"),
    /** This machine lacks what the trial needs, or time was up. */
    UNTRIED("not tried"),
    /** It does not do what its man page says. */
    WRONG,
    /** The process ended. */
    ENDED("ended the process"),
    /** What had to come did not come before the deadline. */
    HUNG;

    private final String words;

    Outcome() { words = name().toLowerCase(java.util.Locale.ROOT); }

    Outcome(String words) { this.words = words; }

    /** {@return whether something is wrong that was not known} */
    public boolean isWrong() {
        return this == WRONG || this == ENDED || this == HUNG;
    }

    /** {@return it in words} */
    @Override
    public String toString() { return words; }
}
