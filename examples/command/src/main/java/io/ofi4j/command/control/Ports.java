package io.ofi4j.command.control;

import static io.ofi4j.command.WholeNumber.parse;

import picocli.CommandLine.ITypeConverter;

/** Ports of connections between the two sides of a command. */
public final class Ports {
    /** Where a server listens that was told no port. */
    public static final int DEFAULT = 9228;

    private static final int HIGHEST = 65535;
    private static final String NOUN = "a port";

    private Ports() {}

    /** A port to connect to. */
    public static final class Destination implements ITypeConverter<Integer> {
        /** For what reads command lines. */
        public Destination() {
            // it has no state
        }

        @Override
        public Integer convert(String text) { return (int) parse(text, 1, HIGHEST, NOUN); }
    }

    /** A port to listen on; 0 for any that is free. */
    public static final class Source implements ITypeConverter<Integer> {
        /** For what reads command lines. */
        public Source() {
            // it has no state
        }

        @Override
        public Integer convert(String text) { return (int) parse(text, 0, HIGHEST, NOUN); }
    }
}
