package io.ofi4j.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The files of this process's endpoints in /dev/shm that were not there when a test began. While several tests run at
 * the same time, nobody can tell whose a file is: then the last of them to end is told.
 */
final class ShmFiles {
    private static final Path FOLDER = Path.of("/dev/shm");
    /** The provider's own names begin with the number of the process. */
    private static final String OWN = ProcessHandle.current().pid() + "(?:\\D.*)?";

    /** Used under the monitor of the class. */
    private static int watching;
    private static boolean several;
    private static Set<String> before = Set.of();

    private boolean ended;

    private ShmFiles() {}

    /** Of what does not run for a test. */
    static ShmFiles unwatched() {
        ShmFiles files = new ShmFiles();
        files.ended = true;
        return files;
    }

    /** Begins to watch. */
    static synchronized ShmFiles watch() {
        if (watching++ == 0) {
            before = present();
            several = false;
        } else {
            several = true;
        }
        return new ShmFiles();
    }

    /**
     * Ends to watch.
     *
     * @throws AssertionError if this is the last one that watches, and there are files that were not there before
     */
    void requireNothingNew() {
        synchronized (ShmFiles.class) {
            if (ended) { return; }
            end();
            if (watching > 0) { return; }
            Set<String> left = present();
            left.removeAll(before);
            if (!left.isEmpty()) {
                throw new AssertionError((several ? "one of the tests that ran at the same time" : "the test")
                        + " has left in /dev/shm: " + String.join(", ", left)
                        + "; close the endpoints that it opens, and run it with -Dio.ofi4j.leaks=print to see where"
                        + " they were opened");
            }
        }
    }

    /** Ends to watch, and looks at nothing. */
    void end() {
        synchronized (ShmFiles.class) {
            if (!ended) { watching--; }
            ended = true;
        }
    }

    private static Set<String> present() {
        if (!Files.isDirectory(FOLDER)) { return new TreeSet<>(); }
        Set<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            files.map(file -> file.getFileName().toString()).filter(name -> name.matches(OWN)).forEach(names::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }
}
