package io.ofi4j.command.doctor;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Tries whether this process can read the memory of another of its user, as the shm provider does for long transfers
 * (process_vm_readv, cross-memory attach). It reads from a child that it starts for this; Yama's {@code ptrace_scope}
 * may allow that and still refuse other processes.
 */
final class CrossMemory {
    /** The page is not there, but the kernel lets this process look for it. */
    private static final int EFAULT = 14;
    private static final int HEXADECIMAL = 16;

    private CrossMemory() {}

    /**
     * {@return why the memory of a child cannot be read; nothing where it can}
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    static Optional<String> refusal() {
        SystemCalls system = new SystemCalls();
        Process child = null;
        try {
            child = new ProcessBuilder("sleep", "60").start();
            return refusal(system, child.pid());
        } catch (IOException e) {
            return Optional.of("no process could be started to try it with: " + e.getMessage());
        } finally {
            if (child != null) { child.destroyForcibly(); }
        }
    }

    private static Optional<String> refusal(SystemCalls system, long process) {
        int error = system.readMemory(process, firstPage(process));
        return error == 0 || error == EFAULT
                ? Optional.empty()
                : Optional.of("process_vm_readv says " + system.text(error) + " (" + error + ")");
    }

    /** Its address, or 0 where the kernel does not tell it. */
    private static long firstPage(long process) {
        try (BufferedReader maps = Files.newBufferedReader(Path.of("/proc", Long.toString(process), "maps"))) {
            String first = maps.readLine();
            return first == null ? 0 : Long.parseUnsignedLong(first.replaceFirst("-.*", ""), HEXADECIMAL);
        } catch (IOException e) {
            return 0;
        }
    }
}
