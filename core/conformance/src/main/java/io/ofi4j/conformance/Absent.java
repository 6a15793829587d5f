package io.ofi4j.conformance;

import java.time.Duration;

/** What had to come did not come in time. */
public final class Absent extends Wrong {
    private static final long serialVersionUID = 1L;

    /**
     * Something that did not come.
     *
     * @param what a noun for what had to come
     * @param deadline how long it was waited for
     */
    public Absent(String what, Duration deadline) {
        super(what + ": came nothing within " + deadline.toMillis() / 1000.0 + " s");
    }
}
