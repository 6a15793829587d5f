package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How often the system made a thread that spins wait for others. */
final class Switches {
    private static final Path STATUS = Path.of("/proc/thread-self/status");
    private static final String INVOLUNTARY = "nonvoluntary_ctxt_switches:";

    private Switches() {}

    /** {@return how often the calling thread has had to wait since it began, as {@code ru_nivcsw} of getrusage(2)} */
    static long ofThisThread() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith(INVOLUNTARY)) {
                    return Long.parseLong(line.substring(INVOLUNTARY.length()).strip());
                }
            }
            throw new IllegalStateException(STATUS + " has no line " + INVOLUNTARY);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
