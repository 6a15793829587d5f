package io.ofi4j.hostile;

import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Ends processes by SIGKILL, and removes what those leave that cannot do it themselves. */
final class HostileKills {
    private HostileKills() {}

    static void kill(Forked.Running running) throws InterruptedException, IOException {
        running.process().destroyForcibly();
        if (!running.process().waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("a process cannot be killed");
        }
        removeFiles(running.process());
    }

    /** Removes the files of the endpoints of shm of a process that has ended. */
    static void removeFiles(Process ended) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/dev/shm"), ended.pid() + ":*")) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
    }
}
