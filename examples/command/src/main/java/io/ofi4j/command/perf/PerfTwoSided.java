package io.ofi4j.command.perf;

import picocli.CommandLine.Option;

/** What the measurements have in common in which the peer can answer. */
abstract class PerfTwoSided extends PerfRun {
    @Option(names = "--ping-pong", description = "Answer each message or write with one as long, one after the other. "
            + "Every time is half of that until the answer is there.")
    private boolean pingPong;

    @Override
    final boolean isPingPong() { return pingPong; }
}
