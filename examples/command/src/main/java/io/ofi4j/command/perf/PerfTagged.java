package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf tagged}. */
@Command(name = "tagged", description = "Measures messages with tags (fi_tsend): as msg, with another tag for each "
        + "receive that the peer has posted.")
final class PerfTagged extends PerfTwoSided {
    @Override
    Operation operation() { return Operation.TAGGED; }
}
