package io.ofi4j.command;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/**
 * Files that are there whole, or as they were before: each is written beside its place, and then renamed. Who ends the
 * command meanwhile finds at most a file more, whose name begins with a dot and ends in {@code .part}.
 */
public final class WholeFile {
    private static final Set<StandardOpenOption> NEW = Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
    /** As many as Linux follows. */
    private static final int MAX_LINKS = 40;

    private WholeFile() {}

    /**
     * Writes or replaces a file, which keeps its permissions. What is no regular file, such as a pipe or a terminal, is
     * written to as it is. So is what is open already, such as {@code /dev/stdout}, at its end.
     *
     * @throws IOException names the file that was asked for, whichever could not be written
     */
    public static void write(Path file, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        try {
            Path target = target(file);
            if (isFile(target)) {
                replace(target, bytes);
            } else if (isStandardOutput(target)) {
                System.out.write(bytes.array()); // who opened it again would have a place of its own in the file
                System.out.flush();
            } else {
                try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
                    writeAll(out, bytes);
                }
            }
        } catch (IOException e) {
            throw new IOException(file + ": " + reason(e), e);
        }
    }

    /** {@return what {@link #write} needs and is not there, as far as it is seen before; empty if it may be written} */
    public static Optional<String> obstacle(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file)) { return Optional.of("it needs a file, and " + file + " is a folder"); }
        if (!Files.isDirectory(folder)) { return Optional.of("it needs a folder, and " + folder + " is none"); }
        try {
            Path target = target(file);
            boolean isWritable = (!isFile(target) || Files.isWritable(target.getParent()))
                    && (!Files.exists(target) || Files.isWritable(target));
            return isWritable ? Optional.empty() : Optional.of("this user may not write " + file);
        } catch (IOException e) {
            return Optional.of(file + " cannot be written: " + reason(e));
        }
    }

    /** {@return whether a file is or becomes a regular one, which each {@link #write} replaces} */
    public static boolean isReplaced(Path file) throws IOException {
        return isFile(target(file));
    }

    private static boolean isFile(Path target) {
        return !Files.isSymbolicLink(target) && (Files.isRegularFile(target) || !Files.exists(target));
    }

    private static boolean isStandardOutput(Path target) throws IOException {
        return target.endsWith("1") && target.getParent().toRealPath().equals(Path.of("/proc/self/fd").toRealPath());
    }

    /** {@return where the links of a file lead; a link itself if what it leads to is open in a process} */
    private static Path target(Path file) throws IOException {
        Path target = file.toAbsolutePath();
        for (int links = 0; Files.isSymbolicLink(target) && !isDescriptor(target) && links < MAX_LINKS; links++) {
            target = target.resolveSibling(Files.readSymbolicLink(target));
        }
        return target;
    }

    private static boolean isDescriptor(Path link) throws IOException {
        return link.getParent().toRealPath().startsWith("/proc");
    }

    private static void replace(Path target, ByteBuffer bytes) throws IOException {
        Path part = target.resolveSibling("." + target.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        boolean isThere = Files.exists(target);
        if (isThere && !Files.isWritable(target)) { throw new AccessDeniedException(target.toString()); }
        Files.deleteIfExists(part); // of a process that has ended; a link that others have put there is not followed
        try {
            if (isThere) {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(target);
                writeNew(part, bytes, PosixFilePermissions.asFileAttribute(permissions));
                Files.setPosixFilePermissions(part, permissions); // those that the umask has taken away, too
            } else {
                writeNew(part, bytes);
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            part.toFile().delete();
            throw e;
        }
    }

    private static void writeNew(Path part, ByteBuffer bytes, FileAttribute<?>... attributes) throws IOException {
        try (FileChannel out = FileChannel.open(part, NEW, attributes)) {
            writeAll(out, bytes);
            out.force(true); // a rename may survive a crash that what was written does not
        }
    }

    private static void writeAll(FileChannel out, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
    }

    private static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "there is no such folder";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException failure when failure.getReason() != null -> failure.getReason();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
