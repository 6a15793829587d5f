package io.ofi4j.examples.perf;

import picocli.CommandLine.Option;

/** What the measurements of messages have in common. */
abstract class PerfTwoSided extends PerfRun {
    @Option(names = "--ping-pong", description = "Answer each message with one as long, one after the other. "
            + "Every time is half of that until the answer is there.")
    private boolean pingPong;

    @Override
    final boolean isPingPong() { return pingPong; }
}
