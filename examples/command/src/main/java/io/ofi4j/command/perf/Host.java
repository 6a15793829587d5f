package io.ofi4j.command.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** This machine. */
final class Host {
    /** As the kernel knows it: no name service is asked. */
    static final String NAME = name();

    private Host() {}

    private static String name() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "?";
        }
    }
}
