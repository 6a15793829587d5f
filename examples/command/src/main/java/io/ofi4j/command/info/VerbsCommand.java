package io.ofi4j.command.info;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j verbs}. */
@Command(name = "verbs", description = "RDMA devices through libibverbs, without libfabric.",
        subcommands = VerbsInfoCommand.class)
public final class VerbsCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() { throw new ParameterException(spec.commandLine(), "Say which command: info."); }
}
