package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf writedata}. */
@Command(name = "writedata", description = "Measures writes that give the peer a completion with data (fi_writedata). "
        + "An operation begins when it is posted and ends when its completion is read at this side.")
final class PerfWriteData extends PerfTwoSided {
    @Override
    Operation operation() { return Operation.WRITEDATA; }
}
