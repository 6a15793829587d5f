package io.ofi4j.command.soak;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;

/**
 * What a soak prints at its end.
 *
 * @param provider what it went over
 * @param libfabric its version
 * @param seed of its random choices
 * @param outcome what came of it
 */
record Report(String provider, String libfabric, long seed, Outcome outcome) {
    private static final double MEBIBYTE = 1 << 20;
    private static final double NANOS_PER_MILLI = 1e6;

    String text() {
        Tally tally = outcome.tally();
        StringBuilder text = new StringBuilder();
        text.append(String.format("soak over %s, libfabric %s, seed %d%n", provider, libfabric, seed));
        text.append(String.format("%d rounds, %d operations, %.1f MiB moved, %.1f MiB verified%n", tally.rounds,
                tally.operations, tally.bytes / MEBIBYTE, tally.verifiedBytes / MEBIBYTE));
        text.append(String.format("faults injected: %d %s; slowest recovery %.0f ms%n", tally.faultCount(),
                tally.faults(), tally.slowestRecoveryNanos / NANOS_PER_MILLI));
        text.append(String.format("regions closed in use: %d, operations canceled: %d, failed: %d%n",
                tally.regionsClosed, tally.canceled, tally.failed));
        text.append(held("before", outcome.before())).append(held("when warm", outcome.warm()))
                .append(held("at the end", outcome.end()));
        text.append(String.format(
                "still taken: %d slots, %d regions; in /dev/shm killed processes left %d files, of which %d"
                        + " are still there%n",
                tally.slotsTaken, tally.regionsOpen, tally.leftByKilled, outcome.leftAtEnd()));
        text.append(String.format("mismatches: %d", tally.mismatchCount()));
        tally.mismatches().forEach(one -> text.append(String.format("%n  %s", one)));
        return text.toString();
    }

    private static String held(String when, Held held) {
        return held == null
                ? String.format("%s: not measured%n", when)
                : String.format("%s: %s; the other process: %s%n", when, held.driver(), held.target());
    }

    String json() {
        Gson gson = new GsonBuilder().disableHtmlEscaping().create();
        Tally tally = outcome.tally();
        JsonObject json = new JsonObject();
        json.addProperty("provider", provider);
        json.addProperty("libfabric", libfabric);
        json.addProperty("seed", seed);
        json.addProperty("rounds", tally.rounds);
        json.addProperty("operations", tally.operations);
        json.addProperty("bytes", tally.bytes);
        json.addProperty("verifiedBytes", tally.verifiedBytes);
        json.add("faults", gson.toJsonTree(tally.faults()));
        json.addProperty("slowestRecoveryMillis", tally.slowestRecoveryNanos / NANOS_PER_MILLI);
        json.addProperty("regionsClosedInUse", tally.regionsClosed);
        json.addProperty("canceled", tally.canceled);
        json.addProperty("failed", tally.failed);
        json.add("before", gson.toJsonTree(outcome.before()));
        json.add("warm", gson.toJsonTree(outcome.warm()));
        json.add("end", gson.toJsonTree(outcome.end()));
        json.addProperty("slotsTaken", tally.slotsTaken);
        json.addProperty("regionsOpen", tally.regionsOpen);
        json.addProperty("leftByKilled", tally.leftByKilled);
        json.addProperty("leftAtEnd", outcome.leftAtEnd());
        json.addProperty("flat", outcome.warm() != null && outcome.growth().isEmpty());
        json.addProperty("mismatches", tally.mismatchCount());
        return gson.toJson(json);
    }
}
