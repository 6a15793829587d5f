package io.ofi4j.command.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What holds for every row.
 *
 * @param settings what the user asked for
 * @param traits what it is measured on
 * @param peer where the other end is, or null where it is in this process
 */
record Header(Settings settings, Traits traits, String peer) {
    Operation operation() { return settings.operation(); }

    int window() { return settings.window(); }

    boolean verify() { return settings.verify(); }

    String memory() { return settings.memory().map(MemoryChoice::toString).orElse("host"); }

    String mode() { return peer == null ? "embedded" : "two processes"; }

    /** {@return the name of this machine, as the kernel knows it: no name service is asked} */
    static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "?";
        }
    }
}
