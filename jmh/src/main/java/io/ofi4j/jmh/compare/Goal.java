package io.ofi4j.jmh.compare;

import java.util.Locale;
import java.util.Optional;

/** What a row is to reach. Rates and bandwidths are compared as times, so that smaller is always better. */
record Goal(double atMost, boolean isDifference) {
    private static final double POLL_NANOSECONDS = 6;

    /** {@return the goal of a row, if it has one} */
    static Optional<Goal> of(Row row) {
        boolean two = !row.libfabric().startsWith("1.");
        boolean shm = row.provider().equals("shm");
        return switch (row.operation()) {
            case "write" -> Optional.of(ratio(shm && two ? 1.15 : 1.03));
            case "read" -> shm ? Optional.empty() : Optional.of(ratio(1.03));
            case "inject" -> shm ? Optional.of(ratio(two ? 1.12 : 1.03)) : Optional.empty();
            case "rate" -> shm ? Optional.of(ratio(1 / (two ? 0.90 : 0.97))) : Optional.empty();
            case "poll" -> shm ? Optional.of(new Goal(POLL_NANOSECONDS, true)) : Optional.empty();
            case "bandwidth" -> row.size() == 1 << 20 ? Optional.of(ratio(1 / 0.98)) : Optional.empty();
            case "fetch-add", "message-rate",
                    "tagged-roundtrip" ->
                shm && two
                        ? Optional.of(ratio(1.15))
                        : row.provider().equals("tcp;ofi_rxm") ? Optional.of(ratio(1.05)) : Optional.empty();
            case String name when name.endsWith("-p50") -> Optional.of(ratio(two ? 1.10 : 1.05));
            case String name when name.endsWith("-p99.9") -> Optional.of(ratio(1.5));
            default -> Optional.empty();
        };
    }

    private static Goal ratio(double atMost) { return new Goal(atMost, false); }

    /** {@return whether a row has reached it, in words} */
    String verdict(Row row) {
        double reached = isDifference ? row.javaNs() - row.cNs() : row.ratio();
        String what = isDifference
                ? String.format(Locale.ROOT, "C + %.0f ns", atMost)
                : String.format(Locale.ROOT, "<= %.3f", atMost);
        return what + (reached <= atMost ? "  met" : String.format(Locale.ROOT, "  missed by %.3f", reached - atMost));
    }
}
