package io.ofi4j.command.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * Asks the kernel whether any process has a file open or mapped: it grants a lease for writing only where none has.
 * Unlike a look at process numbers, this holds across containers that share the folder but not their processes.
 */
final class FileLease {
    private final SystemCalls system;

    FileLease(SystemCalls system) { this.system = system; }

    /** Whether no process has the file open or mapped; false, too, where this process may not know. */
    boolean isUnused(Path file) {
        return whileUnused(file, () -> true);
    }

    /** Removes the file if no process has it open or mapped, and none gets it meanwhile; whether that has happened. */
    boolean removeUnused(Path file) {
        return whileUnused(file, () -> {
            try {
                return Files.deleteIfExists(file);
            } catch (IOException e) {
                return false; // another user's
            }
        });
    }

    /**
     * Does something while nobody can open the file; whoever tries to meanwhile waits. False where somebody has it
     * open.
     */
    boolean whileUnused(Path file, BooleanSupplier action) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) { return false; }
        int descriptor = system.open(file);
        if (descriptor < 0) { return false; }
        try {
            return system.lease(descriptor) && action.getAsBoolean();
        } finally {
            system.close(descriptor);
        }
    }
}
