package io.ofi4j.command;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code ofi4j completion}. */
@Command(name = "completion",
        description = "Prints a script with which bash and zsh complete this command's words: 'source <(ofi4j completion)'.")
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().getOut().print(AutoComplete.bash("ofi4j", spec.commandLine().getParent()));
        spec.commandLine().getOut().flush();
    }
}
