package io.ofi4j.command;

import picocli.CommandLine.TypeConversionException;

/** A number on the command line: whatever is none, or out of range, is answered with the range. */
public final class WholeNumber {
    private WholeNumber() {}

    /** {@return the number} */
    public static long parse(String text, long least, long most, String what) {
        try {
            long value = Long.parseLong(text.strip());
            if (value >= least && value <= most) { return value; }
        } catch (NumberFormatException e) {
            // falls through to what is said for every other text
        }
        throw new TypeConversionException("'" + text + "' is not " + what + " from " + least + " to " + most);
    }
}
