package io.ofi4j.job.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The machine that this process runs on. */
public final class ThisHost {
    private ThisHost() {}

    /** {@return its name, as the kernel knows it} */
    public static String name() {
        return line("/proc/sys/kernel/hostname", "unknown");
    }

    /** {@return the identifier of its last start, which no other machine has; empty if the kernel has none} */
    public static String boot() {
        return line("/proc/sys/kernel/random/boot_id", "");
    }

    private static String line(String file, String other) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return other;
        }
    }
}
