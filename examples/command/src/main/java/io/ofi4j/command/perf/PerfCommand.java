package io.ofi4j.command.perf;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j perf}. */
@Command(name = "perf", description = "Measures one-sided transfers, messages, atomic operations and saves.",
        subcommands = {PerfWrite.class, PerfRead.class, PerfInject.class, PerfWriteData.class, PerfMsg.class,
                PerfTagged.class, PerfAtomic.class, PerfSave.class},
        synopsisSubcommandLabel = "OPERATION")
public final class PerfCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "Say what to measure: write, read, inject, writedata, msg, tagged, atomic or save.");
    }
}
