package io.ofi4j.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Files of shm endpoints whose process was killed: nothing else removes them. */
public final class AbandonedShmFiles {
    private static final Path FOLDER = Path.of("/dev/shm");
    /** How the provider names them: process, user, number. */
    private static final Pattern NAME = Pattern.compile("(\\d{1,10}):\\d+:\\d+");
    private static boolean swept;

    private AbandonedShmFiles() {
    }

    /** Those that no process uses and whose own is gone, of this user or, for root, of all. */
    public static List<Path> find() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(AbandonedShmFiles::isAbandoned).sorted().toList();
        } catch (IOException e) {
            return List.of(); // without the folder there is no shm either
        }
    }

    private static boolean isAbandoned(Path file) {
        return isOfNobodyAlive(file) && FileLease.isUnused(file);
    }

    /**
     * Whether it is an endpoint's, as its name says or what stands in it, and no process is known that has it. Of what stands in it
     * the process's number proves nothing: it is the number in a container, whose next process may have the same.
     */
    private static boolean isOfNobodyAlive(Path file) {
        var name = NAME.matcher(file.getFileName().toString());
        return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()
                || ShmFileHeader.of(file).isPresent();
    }

    /** Removes them; what was removed. */
    public static List<Path> remove() {
        return find().stream().filter(AbandonedShmFiles::removeIfAbandoned).toList();
    }

    /** Removes a file if it is one of them; whether that has happened. */
    static boolean removeIfAbandoned(Path file) {
        return isOfNobodyAlive(file) && FileLease.removeUnused(file);
    }

    /** Removes them once in the life of this process, before its first shm endpoint needs the room. */
    static synchronized void sweep() {
        if (!swept) {
            swept = true;
            remove();
        }
    }
}
