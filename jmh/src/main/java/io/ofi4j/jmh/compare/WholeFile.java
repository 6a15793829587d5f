package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Files that are there whole, or as they were before: each is written beside its place, and then renamed. */
final class WholeFile {
    private WholeFile() {}

    /** What is no regular file, such as a pipe, is written to as it is. */
    static void write(Path file, byte[] bytes) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            Files.write(file, bytes);
            return;
        }
        Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath(); // not the link to it
        Path part = target.resolveSibling("." + target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        try {
            Files.move(Files.write(part, bytes), target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            part.toFile().delete();
            throw e;
        }
    }
}
