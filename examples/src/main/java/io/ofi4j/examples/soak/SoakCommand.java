package io.ofi4j.examples.soak;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import io.ofi4j.FabricHints;
import io.ofi4j.FabricInfo;
import io.ofi4j.Libfabric;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j soak}. */
@Command(name = "soak",
        description = "Two processes, random operations, sizes and closes, faults, and every byte verified.",
        exitCodeListHeading = "%nExit codes:%n", exitCodeList = {"0:nothing was lost, damaged or leaked",
                "1:something was, or it failed", "2:the command line is wrong"})
public final class SoakCommand implements Callable<Integer> {
    private static final int MOST_SECONDS = 7 * 86_400;
    private static final double MEBIBYTE = 1 << 20;
    private static final double NANOS_PER_MILLI = 1e6;
    /** What a heap, a C library and a provider's buffers may still take while nothing leaks; a run of a minute is past that. */
    private static final long RESIDENT_ALLOWANCE = 192L << 20;
    private static final int DESCRIPTOR_ALLOWANCE = 8;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", defaultValue = "shm",
            description = "The provider, as 'ofi4j info' names it; ${DEFAULT-VALUE} if none is named.")
    private String provider;

    @Option(names = "--duration", paramLabel = "SECONDS", defaultValue = "30",
            description = "How long; ${DEFAULT-VALUE} if nothing is said.")
    private int seconds;

    @Option(names = "--seed", paramLabel = "NUMBER",
            description = "Makes the same random choices as a run that printed it.")
    private Long seed;

    @Option(names = "--no-faults", description = "Neither kill nor stop the other process, nor close what is in use.")
    private boolean noFaults;

    @Option(names = "--json", description = "Print a JSON object.")
    private boolean json;

    @Option(names = "--part", hidden = true, description = "Be one of the two processes: driver or target.")
    private String part;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (seconds < 1 || seconds > MOST_SECONDS) {
            throw new ParameterException(spec.commandLine(),
                    "'" + seconds + "' is not a number of seconds from 1 to " + MOST_SECONDS);
        }
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = info(libfabric);
        if (part == null) {
            return new Driver(driverArguments(), Duration.ofSeconds(seconds)).run();
        }
        if (part.equals("target")) {
            Target.run(libfabric, info);
            return 0;
        }
        return soak(libfabric, info);
    }

    private List<String> driverArguments() {
        List<String> arguments = new ArrayList<>(
                List.of("soak", "--part", "driver", "-p", provider, "--duration", Integer.toString(seconds)));
        if (seed != null) {
            arguments.addAll(List.of("--seed", seed.toString()));
        }
        if (noFaults) {
            arguments.add("--no-faults");
        }
        if (json) {
            arguments.add("--json");
        }
        return arguments;
    }

    private int soak(Libfabric libfabric, FabricInfo info) {
        long chosen = seed != null ? seed : System.nanoTime() % 1_000_000_000;
        Soak soak = new Soak(libfabric, info, List.of("soak", "--part", "target", "-p", provider), !noFaults, chosen);
        spec.commandLine().getErr().println("seed " + chosen);
        soak.run(Duration.ofSeconds(seconds));
        boolean sound = soak.tally().mismatchCount() == 0 && isFlat(soak);
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? json(soak, info, libfabric, chosen) : text(soak, info, libfabric, chosen));
        out.flush();
        return sound ? 0 : 1;
    }

    private FabricInfo info(Libfabric libfabric) {
        FabricHints hints = FabricHints.rma().provider(provider);
        return libfabric.info(provider.equals("shm") ? hints : hints.source("127.0.0.1", null)).getFirst();
    }

    private static boolean isFlat(Soak soak) {
        Usage warm = soak.warm();
        Usage end = soak.end();
        return warm == null || end.resident() <= warm.resident() + RESIDENT_ALLOWANCE
                && end.descriptors() <= warm.descriptors() + DESCRIPTOR_ALLOWANCE && end.sharedFiles() == 0;
    }

    private static String text(Soak soak, FabricInfo info, Libfabric libfabric, long seed) {
        Tally tally = soak.tally();
        StringBuilder text = new StringBuilder();
        text.append(String.format("soak over %s, libfabric %s, seed %d%n", info.provider(), libfabric.version(), seed));
        text.append(String.format("%d rounds, %d operations, %.1f MiB moved, %.1f MiB verified%n", tally.rounds,
                tally.operations, tally.bytes / MEBIBYTE, tally.verifiedBytes / MEBIBYTE));
        text.append(String.format("faults injected: %s; slowest recovery %.0f ms%n", tally.faults(),
                tally.slowestRecoveryNanos / NANOS_PER_MILLI));
        text.append(String.format("regions closed in use: %d, operations canceled: %d, failed: %d%n",
                tally.regionsClosed, tally.canceled, tally.failed));
        text.append(String.format("when warm: %s%n", soak.warm()));
        text.append(String.format("at the end: %s%s%n", soak.end(), isFlat(soak) ? "" : " - that is growth"));
        text.append(String.format("mismatches: %d", tally.mismatchCount()));
        tally.mismatches().forEach(one -> text.append(String.format("%n  %s", one)));
        return text.toString();
    }

    private static String json(Soak soak, FabricInfo info, Libfabric libfabric, long seed) {
        Tally tally = soak.tally();
        var gson = new GsonBuilder().disableHtmlEscaping().create();
        JsonObject json = new JsonObject();
        json.addProperty("provider", info.provider());
        json.addProperty("libfabric", libfabric.version().toString());
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
        json.add("warm", gson.toJsonTree(soak.warm()));
        json.add("end", gson.toJsonTree(soak.end()));
        json.addProperty("flat", isFlat(soak));
        json.addProperty("mismatches", tally.mismatchCount());
        return gson.toJson(json);
    }
}
