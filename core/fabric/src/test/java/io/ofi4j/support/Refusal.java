package io.ofi4j.support;

/** For programs of forked JVMs, which print what ofi4j refuses. */
public final class Refusal {
    private Refusal() {}

    /** {@return the message with which a call is refused, or "not refused"} */
    public static String of(Runnable call) {
        try {
            call.run();
            return "not refused";
        } catch (IllegalStateException | UnsupportedOperationException e) {
            return e.getMessage();
        }
    }
}
