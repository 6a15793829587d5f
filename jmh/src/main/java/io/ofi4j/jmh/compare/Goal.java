package io.ofi4j.jmh.compare;

import io.ofi4j.info.ThreadingModel;
import java.util.Locale;
import java.util.Optional;

/** What a row is to reach. Rates and bandwidths are compared as times, so that smaller is always better. */
record Goal(double atMost, boolean isDifference) {
    private static final double POLL_NANOSECONDS = 3;

    /** {@return the goal of a row, if it has one} */
    static Optional<Goal> of(Row row, ThreadingModel threading) {
        boolean isOfShm2 = row.provider().equals("shm") && !row.libfabric().startsWith("1.");
        return !isOfShm2 ? ofOther(row) : threading == ThreadingModel.SAFE ? ofSafe(row) : ofShm2(row);
    }

    private static Optional<Goal> ofShm2(Row row) {
        return switch (row.operation()) {
            case "write", "inject", "rate", "pingpong-write-p50", "pingpong-writedata-p50" -> ratio(1.10);
            case "read" -> ratio(1.06);
            case "writedata" -> ratio(1.12);
            case "prepared-write" -> ratio(1.05);
            case "poll" -> Optional.of(new Goal(POLL_NANOSECONDS, true));
            case "fetch-add", "message-rate" -> ratio(1.15);
            case "tagged-roundtrip" -> ratio(1.20);
            default -> ofAny(row);
        };
    }

    private static Optional<Goal> ofSafe(Row row) {
        return switch (row.operation()) {
            case "write", "read" -> ratio(1.15);
            case "message-rate" -> ratio(1.25);
            default -> ofAny(row);
        };
    }

    private static Optional<Goal> ofOther(Row row) {
        return switch (row.operation()) {
            case "write", "read" -> ratio(1.03);
            case "fetch-add", "message-rate", "tagged-roundtrip" ->
                row.provider().equals("tcp;ofi_rxm") ? ratio(1.05) : Optional.empty();
            case String name when name.endsWith("-p50") -> ratio(1.05);
            default -> ofAny(row);
        };
    }

    private static Optional<Goal> ofAny(Row row) {
        return switch (row.operation()) {
            case "bandwidth" -> row.size() == 1 << 20 ? ratio(1 / 0.98) : Optional.empty();
            case String name when name.endsWith("-p99.9") -> ratio(1.5);
            default -> Optional.empty();
        };
    }

    private static Optional<Goal> ratio(double atMost) { return Optional.of(new Goal(atMost, false)); }

    /** {@return whether a row has reached it, in words} */
    String verdict(Row row) {
        double reached = isDifference ? row.javaNs() - row.cNs() : row.ratio();
        String what = isDifference
                ? String.format(Locale.ROOT, "C + %.0f ns", atMost)
                : String.format(Locale.ROOT, "<= %.3f", atMost);
        return what + (reached <= atMost ? "  met" : String.format(Locale.ROOT, "  missed by %.3f", reached - atMost));
    }
}
