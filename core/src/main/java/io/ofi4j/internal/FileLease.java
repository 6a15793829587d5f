package io.ofi4j.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/**
 * Asks the kernel whether any process has a file open or mapped: it grants a lease for writing only where none has. Other
 * than a look at process numbers, that is true across containers which share a folder and not their processes.
 */
final class FileLease {
    private FileLease() {
    }

    /** Whether no process has it open or mapped; false, too, where this process may not know. */
    static boolean isUnused(Path file) {
        return whileUnused(file, () -> true);
    }

    /** Removes it if no process has it open or mapped, and none gets it meanwhile; whether that has happened. */
    static boolean removeUnused(Path file) {
        return whileUnused(file, () -> {
            try {
                return Files.deleteIfExists(file);
            } catch (IOException e) {
                return false; // somebody else's, who may
            }
        });
    }

    /** Does something while nobody can open it; whoever wants to meanwhile waits. False where somebody has it open. */
    static boolean whileUnused(Path file, BooleanSupplier action) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (NativeFile open = NativeFile.open(file)) {
            return open.lease() && action.getAsBoolean();
        }
    }
}
