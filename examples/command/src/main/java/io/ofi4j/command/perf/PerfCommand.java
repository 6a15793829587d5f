package io.ofi4j.command.perf;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j perf} and its operations. */
@Command(name = "perf", description = "Measures one-sided transfers, messages, atomic operations and saves.",
        subcommands = {PerfCommand.Write.class, PerfCommand.Read.class, PerfCommand.Inject.class,
                PerfCommand.WriteData.class, PerfCommand.Msg.class, PerfCommand.Tagged.class, PerfCommand.Atomic.class,
                PerfSave.class},
        synopsisSubcommandLabel = "OPERATION")
public final class PerfCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "Say what to measure: write, read, inject, writedata, msg, tagged, atomic or save.");
    }

    /** What the measurements have in common in which the peer can answer. */
    private abstract static class TwoSided extends PerfRun {
        @Option(names = "--ping-pong",
                description = "Answer each message or write with one as long, one after the other. "
                        + "Every time is half of that until the answer is there.")
        private boolean pingPong;

        @Override
        final boolean isPingPong() { return pingPong; }
    }

    @Command(name = "write", description = "Measures writes to the memory of a peer (fi_write). "
            + "An operation begins when it is posted and ends when its completion is read.")
    static final class Write extends PerfRun {
        @Override
        Operation operation() { return Operation.WRITE; }
    }

    @Command(name = "read", description = "Measures reads from the memory of a peer (fi_read). "
            + "An operation begins when it is posted and ends when its completion, and with it the data, is there.")
    static final class Read extends PerfRun {
        @Override
        Operation operation() { return Operation.READ; }
    }

    @Command(name = "inject",
            description = "Measures small writes without completions (fi_inject_write). "
                    + "The latency is the time of the call, repeated calls included where the provider has no room. "
                    + "ns/op goes on until everything has arrived: a write behind them is read back.")
    static final class Inject extends PerfRun {
        @Override
        Operation operation() { return Operation.INJECT; }
    }

    @Command(name = "writedata",
            description = "Measures writes that give the peer a completion with data (fi_writedata). "
                    + "An operation begins when it is posted and ends when its completion is read at this side.")
    static final class WriteData extends TwoSided {
        @Override
        Operation operation() { return Operation.WRITEDATA; }
    }

    @Command(name = "msg",
            description = "Measures messages to a peer that has receives posted for them (fi_send). "
                    + "An operation begins when it is posted and ends when its completion is read; "
                    + "the sender is never ahead of the receives.")
    static final class Msg extends TwoSided {
        @Override
        Operation operation() { return Operation.MSG; }
    }

    @Command(name = "tagged", description = "Measures messages with tags (fi_tsend): as msg, with another tag for each "
            + "receive that the peer has posted.")
    static final class Tagged extends TwoSided {
        @Override
        Operation operation() { return Operation.TAGGED; }
    }

    @Command(name = "atomic",
            description = "Measures additions to 64-bit integers of a peer that fetch what these were "
                    + "(fi_fetch_atomic). An operation begins when it is posted and ends when its completion, "
                    + "and with it the number, is there.")
    static final class Atomic extends PerfRun {
        @Override
        Operation operation() { return Operation.ATOMIC; }
    }
}
