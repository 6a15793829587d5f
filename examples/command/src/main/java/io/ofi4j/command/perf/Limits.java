package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import java.util.List;

/**
 * What sizes a provider can transfer.
 *
 * @param operation how they are transferred
 * @param provider who says so
 * @param largest how many bytes at most
 */
record Limits(Operation operation, String provider, long largest) {
    static Limits of(Operation operation, Traits traits) {
        return new Limits(operation, traits.provider(), switch (operation) {
            case INJECT -> traits.largestInject();
            case ATOMIC -> Long.BYTES;
            default -> traits.largestMessage();
        });
    }

    /** {@return the sizes that are possible; it is an error where the user named one that is not} */
    List<Long> allowed(Sizes sizes) {
        if (operation == Operation.ATOMIC) { return List.of((long) Long.BYTES); }
        List<Long> fitting = sizes.upTo(largest);
        for (long size : fitting) {
            if (size > largest) {
                throw new CommandFailure("Provider " + provider + " takes at most " + largest + " bytes in "
                        + (operation == Operation.INJECT ? "an inject" : "a " + operation) + ", not " + size
                        + ": ask for smaller sizes (-S)"
                        + (operation == Operation.INJECT ? " or measure write." : "."));
            }
        }
        if (fitting.isEmpty()) {
            throw new CommandFailure("Provider " + provider + " cannot transfer any of the usual sizes by " + operation
                    + ": its limit is " + largest + " bytes.");
        }
        return fitting;
    }
}
