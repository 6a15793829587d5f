package io.ofi4j.jmh.compare;

/** A provider does not offer what is to be measured. */
final class Absence extends BenchFailure {
    private static final long serialVersionUID = 1L;

    Absence(String message) { super(message); }
}
