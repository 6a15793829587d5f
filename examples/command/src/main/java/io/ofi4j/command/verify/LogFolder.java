package io.ofi4j.command.verify;

import io.ofi4j.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Where processes write what they say: the user's folder, or one that is removed with this. */
record LogFolder(Path folder, boolean isOwn) implements AutoCloseable {
    static LogFolder of(Optional<Path> named) {
        try {
            LogFolder logs = new LogFolder(named.isPresent() ? named.get() : Files.createTempDirectory("ofi4j-verify"),
                    named.isEmpty());
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(logs::close)); // SIGTERM closes nothing
            } catch (IllegalStateException e) { // this process ends already
                logs.close();
                throw e;
            }
            return logs;
        } catch (IOException e) {
            throw new CommandFailure("A folder for what the processes say cannot be made: " + e.getMessage() + ".", e);
        }
    }

    @Override
    public void close() {
        if (!isOwn || !Files.exists(folder)) { return; }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : List.copyOf(files.sorted(Comparator.reverseOrder()).toList())) {
                Files.delete(file);
            }
        } catch (IOException e) {
            return; // it is in the folder of temporary files
        }
    }
}
