package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;

/**
 * How many bytes operations transfer.
 *
 * @param bytes the sizes
 * @param isExact whether the user named each, so that it is an error where one is too large
 */
record Sizes(List<Long> bytes, boolean isExact) {
    private static final int LARGEST_SHIFT = 22;

    /** Where the user says nothing. */
    static final Sizes SELECTION = new Sizes(List.of(8L, 64L, 256L, 1L << 10, 4L << 10, 64L << 10, 1L << 20), false);
    /** The powers of two up to 4 MiB. */
    static final Sizes ALL = new Sizes(
            LongStream.rangeClosed(0, LARGEST_SHIFT).map(shift -> 1L << shift).boxed().toList(), false);

    /** {@return these, without those above the limit where the user did not name them} */
    List<Long> upTo(long limit) {
        return isExact ? bytes : bytes.stream().filter(size -> size <= limit).toList();
    }

    /** {@return those that are possible; it is an error where the user named one that is not} */
    List<Long> possible(Operation operation, Traits traits) {
        if (operation == Operation.ATOMIC) { return List.of((long) Long.BYTES); }
        boolean isInject = operation == Operation.INJECT;
        long largest = isInject ? traits.largestInject() : traits.largestMessage();
        List<Long> fitting = upTo(largest);
        for (long size : fitting) {
            if (size > largest) {
                throw new CommandFailure("Provider " + traits.provider() + " takes at most " + largest + " bytes in "
                        + (isInject ? "an inject" : "a " + operation) + ", not " + size + ": ask for smaller sizes (-S)"
                        + (isInject ? " or measure write." : "."));
            }
        }
        if (fitting.isEmpty()) {
            throw new CommandFailure("Provider " + traits.provider() + " cannot transfer any of the usual sizes by "
                    + operation + ": its limit is " + largest + " bytes.");
        }
        return fitting;
    }

    /** Reads what is behind -S. */
    static final class Converter implements ITypeConverter<Sizes> {
        @Override
        public Sizes convert(String text) {
            if (text.strip().equalsIgnoreCase("all")) { return ALL; }
            return new Sizes(Stream.of(text.split(",", -1)).map(Numbers::size).toList(), true);
        }
    }
}
