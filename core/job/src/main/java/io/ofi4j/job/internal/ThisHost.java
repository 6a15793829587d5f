package io.ofi4j.job.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The machine that this process runs on. */
public final class ThisHost {
    private ThisHost() {}

    /** {@return its name, as the kernel knows it} */
    public static String name() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
