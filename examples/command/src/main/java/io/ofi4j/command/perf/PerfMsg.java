package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf msg}. */
@Command(name = "msg",
        description = "Measures messages to a peer that has receives posted for them (fi_send). "
                + "An operation begins when it is posted and ends when its completion is read; "
                + "the sender is never ahead of the receives.")
final class PerfMsg extends PerfTwoSided {
    @Override
    Operation operation() { return Operation.MSG; }
}
