package io.ofi4j.command;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** What {@code ofi4j} says of itself and takes with every command; {@link Ofi4j} has the commands. */
@Command(name = "ofi4j", description = "RDMA from Java over libfabric: what this machine offers, and how fast it is.",
        mixinStandardHelpOptions = true, scope = ScopeType.INHERIT, synopsisSubcommandLabel = "COMMAND",
        usageHelpAutoWidth = true, exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done", "1:it failed; one sentence on stderr says why",
                "2:the command line is wrong; one sentence on stderr says where"})
class CommandRoot implements Runnable {
    @Option(names = "--stacktrace", scope = ScopeType.INHERIT,
            description = "Print Java's stack trace if something fails.")
    private boolean stacktrace;

    @Spec
    private CommandSpec spec;

    @Option(names = Library.OPTION, paramLabel = "FILE", scope = ScopeType.INHERIT, converter = Library.Converter.class,
            description = "Load this libfabric.so.1. Without it, the one that the system finds.")
    private void library(Path file) { Library.choose(file); }

    @Option(names = "-D" + Library.PROPERTY, hidden = true, paramLabel = "FILE", scope = ScopeType.INHERIT,
            converter = Library.Converter.class,
            description = "As " + Library.OPTION + ": messages of the library name the property.")
    private void libraryAsProperty(Path file) { Library.choose(file); }

    /** {@return the command, ready to be executed} */
    static CommandLine line(CommandRoot root) {
        CommandLine line = new CommandLine(root);
        provideVersion(line);
        return line.setCaseInsensitiveEnumValuesAllowed(true).setExecutionStrategy(CommandRoot::execute)
                .setExecutionExceptionHandler((failure, command, parsed) -> root.failed(failure, command))
                .setParameterExceptionHandler((failure, arguments) -> root.misused(failure));
    }

    /**
     * Not by the annotation: picocli would ask for the version, which loads libfabric, before it has read an option
     * that is about that.
     */
    private static void provideVersion(CommandLine line) {
        line.getCommandSpec().versionProvider(new Release());
        line.getSubcommands().values().forEach(CommandRoot::provideVersion);
    }

    /** A word that is no command is named, also where help was asked for: picocli would show the help of the others. */
    private static int execute(ParseResult parsed) {
        for (CommandLine command : parsed.asCommandLineList()) {
            List<String> unmatched = command.getParseResult().unmatched();
            if (!unmatched.isEmpty()) { throw new UnmatchedArgumentException(command, unmatched); }
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "Say which command: info, perf, doctor, verify, soak, top or verbs.");
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

    /** Whether a word stands where a command should. */
    private static boolean isNoCommand(ParameterException failure, CommandLine command) {
        return failure instanceof UnmatchedArgumentException unmatched && !unmatched.getUnmatched().isEmpty()
                && !unmatched.getUnmatched().getFirst().startsWith("-")
                && !command.getCommandSpec().subcommands().isEmpty();
    }

    private int misused(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        String sentence = withSuggestion(isNoCommand(failure, command)
                ? "There is no command '" + ((UnmatchedArgumentException) failure).getUnmatched().getFirst() + "'"
                : Sentences.of(failure), Suggestions.of(failure));
        err.println("ofi4j: " + sentence + (sentence.endsWith(".") || sentence.endsWith("?") ? "" : ".") + " '"
                + command.getCommandSpec().qualifiedName() + " --help' lists what there is.");
        if (stacktrace) { failure.printStackTrace(err); }
        err.flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }
}
