package io.ofi4j.conformance.run;

import java.util.List;
import java.util.function.Consumer;

/**
 * Where the far halves of trials run: on this machine or on another. The lines that it takes and gives are those of
 * {@link FarRunner}.
 */
@FunctionalInterface
public interface FarHost {
    /**
     * {@return what serves one process of trials}
     *
     * @param options options of the JVMs of far halves, such as {@code -Dname=value}
     * @param lines takes what is said to the process of the trials, in a thread of the host
     */
    Line open(List<String> options, Consumer<String> lines);

    /** {@return whether far halves run on this machine} Trials that need both halves here say so otherwise. */
    default boolean isHere() {
        return true;
    }

    /** What serves one process of trials. */
    interface Line extends AutoCloseable {
        /** Takes what the process of the trials says. */
        void accept(String line);

        /** Ends the process with the far half. */
        @Override
        void close();
    }
}
