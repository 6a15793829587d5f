package io.ofi4j.command.soak;

import io.ofi4j.command.NameConverter;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.Loopback;
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
        exitCodeListHeading = "%nExit status:%n", exitCodeList = {"0:nothing was lost, damaged or leaked",
                "1:something was, or it failed", "2:the command line is wrong"})
public final class SoakCommand implements Callable<Integer> {
    private static final int MOST_SECONDS = 7 * 86_400;

    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class, defaultValue = "shm",
            description = "The provider, as 'ofi4j info' names it. Without it ${DEFAULT-VALUE}.")
    private String provider;

    @Option(names = {"-s", "--source"}, paramLabel = "ADDRESS", converter = NameConverter.class,
            description = "The address of this machine that both processes use. Without it the loopback address.")
    private String source;

    @Option(names = "--duration", paramLabel = "SECONDS", defaultValue = "30",
            description = "How long it runs. Without it ${DEFAULT-VALUE}.")
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
            Interrupt.obstacle().ifPresent(spec.commandLine().getErr()::println);
            return new Driver(driverArguments(), Duration.ofSeconds(seconds)).run();
        }
        if (part.equals("target")) {
            Interrupt.ofChild(); // until this process ends: the other says when
            Target.run(libfabric, info);
            return 0;
        }
        try (Interrupt interrupt = Interrupt.ofChild()) {
            return soak(libfabric, info, interrupt);
        }
    }

    private List<String> driverArguments() {
        List<String> arguments = new ArrayList<>(
                List.of("soak", "--part", "driver", "-p", provider, "--duration", Integer.toString(seconds)));
        if (seed != null) { arguments.addAll(List.of("--seed", seed.toString())); }
        if (source != null) { arguments.addAll(List.of("-s", source)); }
        if (noFaults) { arguments.add("--no-faults"); }
        if (json) { arguments.add("--json"); }
        return arguments;
    }

    private int soak(Libfabric libfabric, FabricInfo info, Interrupt interrupt) {
        long chosen = seed != null ? seed : System.nanoTime() % 1_000_000_000;
        List<String> target = new ArrayList<>(List.of("soak", "--part", "target", "-p", provider));
        if (source != null) { target.addAll(List.of("-s", source)); }
        Soak soak = new Soak(libfabric, info, target, !noFaults, chosen, interrupt, spec.commandLine().getErr());
        spec.commandLine().getErr().println("seed " + chosen);
        Outcome outcome = soak.run(Duration.ofSeconds(seconds));
        Report report = new Report(info.provider(), libfabric.version().toString(), chosen, outcome);
        PrintWriter out = spec.commandLine().getOut();
        out.println(json ? report.json() : report.text());
        out.flush();
        outcome.complaint(interrupt.isAsked()).ifPresent(complaint -> {
            throw new CommandFailure(complaint);
        });
        return interrupt.isAsked() ? Interrupt.EXIT_CODE : 0;
    }

    private FabricInfo info(Libfabric libfabric) {
        FabricHints hints = FabricHints.rma().provider(provider);
        boolean hasNoAddress = provider.equals("shm") && source == null;
        return libfabric.info(hasNoAddress ? hints : hints.source(source == null ? Loopback.ADDRESS : source, null))
                .getFirst();
    }
}
