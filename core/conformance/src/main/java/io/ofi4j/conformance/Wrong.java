package io.ofi4j.conformance;

/** A call or a rule did something else than its man page says. */
public class Wrong extends AssertionError {
    private static final long serialVersionUID = 1L;

    /**
     * A value that is not what it should be.
     *
     * @param what a noun for the value
     * @param came the value
     * @param expected what it should be
     */
    public Wrong(String what, String came, String expected) {
        super(what + ": came " + came + ", expected " + expected);
    }

    /**
     * Something else.
     *
     * @param message a sentence without a full stop that says what came and what was expected
     */
    public Wrong(String message) { super(message); }
}
