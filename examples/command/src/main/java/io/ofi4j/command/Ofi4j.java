package io.ofi4j.command;

import io.ofi4j.command.doctor.DoctorCommand;
import io.ofi4j.Libfabric;
import io.ofi4j.command.info.InfoCommand;
import io.ofi4j.command.info.VerbsCommand;
import io.ofi4j.command.perf.PerfCommand;
import io.ofi4j.command.soak.SoakCommand;
import io.ofi4j.command.top.TopCommand;
import io.ofi4j.command.verify.VerifyCommand;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** The {@code ofi4j} command. Tools that make completions and man pages read its commands from the annotation. */
@Command(scope = ScopeType.INHERIT,
        subcommands = {InfoCommand.class, PerfCommand.class, DoctorCommand.class, SoakCommand.class, TopCommand.class,
                VerifyCommand.class, VerbsCommand.class, CompletionCommand.class, HelpCommand.class})
public final class Ofi4j extends CommandRoot {
    /** What reads the command line of {@code info} alone, in a part of the time. */
    @Command(scope = ScopeType.INHERIT, subcommands = InfoCommand.class)
    private static final class InfoAlone extends CommandRoot {}

    /**
     * Runs the command and ends the process.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // its output is English: 1.5, and no other digits
        NativeAccess.isEnabled();
        // it is over in the time that others need to begin
        boolean isInfo = arguments.length > 0 && arguments[0].equals("info");
        if (isInfo && Stream.of(arguments).noneMatch(Library::isNamedBy)) {
            Thread.ofPlatform().daemon().start(Ofi4j::wakeProviders);
        }
        StandardOutput output = StandardOutput.install();
        CommandLine line = CommandRoot.line(isInfo ? new InfoAlone() : new Ofi4j());
        System.exit(output.finish(line.execute(arguments)));
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
        return CommandRoot.line(new Ofi4j());
    }
}
