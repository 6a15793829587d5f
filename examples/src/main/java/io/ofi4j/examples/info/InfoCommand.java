package io.ofi4j.examples.info;

import picocli.CommandLine.Command;

/** {@code ofi4j info}. */
@Command(name = "info", description = "Lists what libfabric offers on this machine.")
public final class InfoCommand implements Runnable {
    @Override
    public void run() {
    }
}
