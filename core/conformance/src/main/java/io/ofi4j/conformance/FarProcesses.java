package io.ofi4j.conformance;

/** Where processes for far ends come from. */
@FunctionalInterface
public interface FarProcesses {
    /** There are none, and what needs one is not tried. */
    FarProcesses NONE = () -> {
        throw new Untried("it needs a second process");
    };

    /** {@return a process in which nothing is open} */
    FarProcess take() throws InterruptedException;
}
