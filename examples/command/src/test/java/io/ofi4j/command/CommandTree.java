package io.ofi4j.command;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Every command, with what the user sees of it. */
final class CommandTree {
    private CommandTree() {}

    /** {@return the command itself, and all commands of commands} */
    static List<CommandLine> all() {
        List<CommandLine> found = new ArrayList<>();
        collect(Ofi4j.commandLine(), found);
        return found;
    }

    private static void collect(CommandLine command, List<CommandLine> found) {
        found.add(command);
        command.getSubcommands().values().forEach(one -> collect(one, found));
    }

    /** {@return every name of every option that --help shows} */
    static List<String> options(CommandLine command) {
        return command.getCommandSpec().options().stream().filter(option -> !option.hidden()).map(OptionSpec::names)
                .flatMap(Stream::of).toList();
    }
}
