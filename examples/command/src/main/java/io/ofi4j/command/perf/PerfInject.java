package io.ofi4j.command.perf;

import picocli.CommandLine.Command;

/** {@code ofi4j perf inject}. */
@Command(name = "inject",
        description = "Measures small writes without completions (fi_inject_write). "
                + "The latency is the time of the call, repeated calls included where the provider has no room. "
                + "ns/op goes on until everything has arrived: a write behind them is read back.")
final class PerfInject extends PerfRun {
    @Override
    Operation operation() { return Operation.INJECT; }
}
