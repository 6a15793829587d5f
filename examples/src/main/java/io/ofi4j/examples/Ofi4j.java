package io.ofi4j.examples;

import io.ofi4j.examples.doctor.DoctorCommand;
import io.ofi4j.Libfabric;
import io.ofi4j.examples.info.InfoCommand;
import io.ofi4j.examples.info.VerbsCommand;
import io.ofi4j.examples.perf.PerfCommand;
import io.ofi4j.examples.soak.SoakCommand;
import io.ofi4j.examples.top.TopCommand;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code ofi4j} command. */
@Command(name = "ofi4j", description = "RDMA from Java over libfabric: what this machine offers, and how fast it is.",
        mixinStandardHelpOptions = true, versionProvider = Release.class, scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND", usageHelpAutoWidth = true, exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:it failed; one sentence on stderr says why",
                "2:the command line is wrong; one sentence on stderr says where"})
public final class Ofi4j implements Runnable {
    private static final List<Class<?>> COMMANDS = List.of(InfoCommand.class, PerfCommand.class, DoctorCommand.class,
            SoakCommand.class, TopCommand.class, VerbsCommand.class, CompletionCommand.class, HelpCommand.class);

    @Option(names = "--stacktrace", scope = ScopeType.INHERIT,
            description = "Print Java's stack trace if something fails.")
    private boolean stacktrace;

    @Spec
    private CommandSpec spec;

    /**
     * Runs the command and ends the process.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        NativeAccess.isEnabled();
        // it is over in the time that others need to begin
        boolean isInfo = arguments.length > 0 && arguments[0].equals("info");
        if (isInfo) { Thread.ofPlatform().daemon().start(Ofi4j::wakeProviders); }
        if (Stream.of(arguments).anyMatch(word -> word.startsWith("--hook"))) { Release.withoutLibfabric(); }
        StandardOutput output = StandardOutput.install();
        System.exit(output.finish(commandLine(isInfo ? List.of(InfoCommand.class) : COMMANDS).execute(arguments)));
    }

    /**
     * Providers look for their devices when they are first asked anything, which takes as long as reading the command
     * line.
     */
    private static void wakeProviders() {
        try {
            Libfabric.load().parameters();
        } catch (RuntimeException | Error e) {
            return; // the command meets the same, and says it
        }
    }

    /** {@return the command, ready to be executed} */
    public static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    private static CommandLine commandLine(List<Class<?>> commands) {
        Ofi4j root = new Ofi4j();
        CommandLine line = new CommandLine(root);
        commands.forEach(line::addSubcommand);
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> root.failed(failure, command))
                .setParameterExceptionHandler((failure, arguments) -> root.misused(failure));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Say which command: info, perf, doctor, soak, top or verbs.");
    }

    private int failed(Exception failure, CommandLine command) {
        PrintWriter err = command.getErr();
        err.println("ofi4j: " + withSuggestion(Sentences.of(failure), Suggestions.of(failure, command)));
        if (stacktrace) { failure.printStackTrace(err); }
        err.flush();
        return command.getCommandSpec().exitCodeOnExecutionException();
    }

    /** The suggestion begins with a colon. */
    private static String withSuggestion(String sentence, String suggestion) {
        return suggestion.isEmpty() || !sentence.endsWith(".")
                ? sentence + suggestion
                : sentence.substring(0, sentence.length() - 1) + suggestion;
    }

    private int misused(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        String sentence = withSuggestion(Sentences.of(failure), Suggestions.of(failure));
        err.println("ofi4j: " + sentence + (sentence.endsWith(".") || sentence.endsWith("?") ? "" : ".") + " '"
                + command.getCommandSpec().qualifiedName() + " --help' lists what there is.");
        if (stacktrace) { failure.printStackTrace(err); }
        err.flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }
}
