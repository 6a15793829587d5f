package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf write}. */
@Command(name = "write", description = "Measures writes to the memory of a peer (fi_write). "
        + "An operation begins when it is posted and ends when its completion is read.")
final class PerfWrite extends PerfRun {
    @Override
    Operation operation() { return Operation.WRITE; }
}
