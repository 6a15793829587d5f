package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf atomic}. */
@Command(name = "atomic",
        description = "Measures additions to 64-bit integers of a peer that fetch what these were "
                + "(fi_fetch_atomic). An operation begins when it is posted and ends when its completion, "
                + "and with it the number, is there.")
final class PerfAtomic extends PerfRun {
    @Override
    Operation operation() { return Operation.ATOMIC; }
}
