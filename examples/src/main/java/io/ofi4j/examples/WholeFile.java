package io.ofi4j.examples;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Files that are there whole, or as they were before: each is written beside its place, and then renamed. Who ends the
 * command meanwhile finds at most a file more, whose name begins with a dot and ends in {@code .part}.
 */
public final class WholeFile {
    private WholeFile() {}

    /**
     * Writes or replaces a file. What is no regular file, such as a pipe or a terminal, is written to as it is.
     *
     * @throws IOException names the file that was asked for, whichever could not be written
     */
    public static void write(Path file, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
                writeAll(out, bytes);
            }
            return;
        }
        Path target = Files.exists(file) ? file.toRealPath() : file.toAbsolutePath(); // not the link to it
        Path part = target.resolveSibling("." + target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        try {
            writeBeside(part, bytes);
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            part.toFile().delete();
            throw e instanceof FileSystemException of ? named(of, part, file) : e;
        }
    }

    private static void writeBeside(Path part, ByteBuffer bytes) throws IOException {
        try (FileChannel out = FileChannel.open(part, StandardOpenOption.WRITE, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            writeAll(out, bytes);
            out.force(true); // a rename may survive a crash that what was written does not
        }
    }

    private static void writeAll(FileChannel out, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
    }

    private static IOException named(FileSystemException e, Path part, Path file) {
        boolean isOfPart = part.toString().equals(e.getFile());
        return isOfPart ? new IOException(file + (e.getReason() == null ? "" : ": " + e.getReason()), e) : e;
    }
}
