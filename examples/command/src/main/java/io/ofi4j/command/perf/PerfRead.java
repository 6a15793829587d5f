package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf read}. */
@Command(name = "read", description = "Measures reads from the memory of a peer (fi_read). "
        + "An operation begins when it is posted and ends when its completion, and with it the data, is there.")
final class PerfRead extends PerfRun {
    @Override
    Operation operation() { return Operation.READ; }
}
