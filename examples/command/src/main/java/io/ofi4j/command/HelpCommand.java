package io.ofi4j.command;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ofi4j help perf write} is {@code ofi4j perf write --help}. */
@Command(name = "help", helpCommand = true, description = "Shows what a command does: 'ofi4j help perf write'.")
final class HelpCommand implements Runnable {
    @Parameters(arity = "0..*", paramLabel = "COMMAND",
            description = "The command to explain. Without it, ofi4j itself.")
    private List<String> names = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        CommandLine command = spec.commandLine().getParent();
        for (String name : names) {
            CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new ParameterException(command, "'" + command.getCommandSpec().qualifiedName()
                        + "' has no command '" + name + "'" + Suggestions.of(name, command.getSubcommands().keySet()));
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
        spec.commandLine().getOut().flush();
    }
}
