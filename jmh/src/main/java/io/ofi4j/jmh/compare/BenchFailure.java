package io.ofi4j.jmh.compare;

/** The comparison cannot go on; the message is the sentence that the user reads. */
class BenchFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BenchFailure(String message) { super(message); }

    BenchFailure(String message, Throwable cause) { super(message, cause); }
}
