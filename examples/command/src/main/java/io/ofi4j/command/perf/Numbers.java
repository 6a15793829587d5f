package io.ofi4j.command.perf;

import static io.ofi4j.command.WholeNumber.parse;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers on the command line: whatever is none, or out of range, is answered with the range. */
final class Numbers {
    static final long LARGEST_SIZE = 64L << 30;
    static final long HIGHEST_RATE = 1_000_000_000;

    private Numbers() {}

    /** A count of operations. */
    static final class Count implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) { return parse(text, 1, 1_000_000_000_000L, "a number of operations"); }
    }

    /** A count of operations, or none. */
    static final class CountOrNone implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) { return parse(text, 0, 1_000_000_000_000L, "a number of operations"); }
    }

    /** How many operations begin in a second. */
    static final class Rate implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) { return parse(text, 1, HIGHEST_RATE, "a number of operations per second"); }
    }

    /** How many operations are in flight. */
    static final class Window implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) { return (int) parse(text, 1, 4096, "a number of operations in flight"); }
    }

    /** How many threads measure. */
    static final class Threads implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) { return (int) parse(text, 1, 64, "a number of threads"); }
    }

    /** A number of seconds. */
    static final class Seconds implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) { return (int) parse(text, 1, 86400, "a number of seconds"); }
    }

    /** Bytes, as 8, 4k, 1m or 1g. */
    static long size(String text) {
        String digits = text.strip().toLowerCase(Locale.ROOT);
        int shift = digits.isEmpty() ? 0 : switch (digits.charAt(digits.length() - 1)) {
            case 'k' -> 10;
            case 'm' -> 20;
            case 'g' -> 30;
            default -> 0;
        };
        if (shift > 0) { digits = digits.substring(0, digits.length() - 1); }
        try {
            long number = Long.parseLong(digits);
            if (number >= 0 && number <= LARGEST_SIZE >> shift) { return number << shift; }
        } catch (NumberFormatException e) {
            // falls through to what is said for every other text
        }
        throw new TypeConversionException("'" + text + "' is not a number of bytes from 0 to 64g"
                + " (8, 4k, 1m, 1g, or several with commas, or all)");
    }
}
