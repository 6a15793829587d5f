package io.ofi4j.examples.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files in /dev/shm that endpoints of the shm provider lived in whose process was killed, 16 MB each as a rule. Closing
 * an endpoint removes its file, and so does the end of its process, unless that is a kill. Only files with the name
 * that the provider gives are found: the file of an endpoint that was given a name of its own looks like any other
 * file.
 */
public final class AbandonedShmFiles {
    private static final Path FOLDER = Path.of("/dev/shm");
    /** Process, user, number; and a random number where the provider found that name taken. */
    private static final Pattern NAME = Pattern.compile("(\\d{1,10}):\\d+:\\d+(:\\d+)?");

    private AbandonedShmFiles() {}

    /**
     * {@return those whose process has ended and that no process has open or mapped: this user's and, for root,
     * everybody's}
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    public static List<Path> find() {
        FileLease lease = new FileLease(new SystemCalls());
        return ofEndedProcesses().stream().filter(lease::isUnused).toList();
    }

    /**
     * {@return those of {@link #find} that this call removed}
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    public static List<Path> remove() {
        FileLease lease = new FileLease(new SystemCalls());
        return ofEndedProcesses().stream().filter(lease::removeUnused).toList();
    }

    /** By their names, which are true in the container of their process only. */
    private static List<Path> ofEndedProcesses() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(AbandonedShmFiles::isOfEndedProcess).sorted().toList();
        } catch (IOException e) {
            return List.of(); // without the folder there is no shm provider either
        }
    }

    private static boolean isOfEndedProcess(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty();
    }
}
