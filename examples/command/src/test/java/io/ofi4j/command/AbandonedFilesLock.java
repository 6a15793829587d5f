package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keeps those tests apart, in all JVMs of this machine, that look for abandoned files in /dev/shm, or remove them: who
 * looks at a file has it open, and it is in use then.
 */
public final class AbandonedFilesLock implements BeforeEachCallback, AfterEachCallback {
    private static final Path FILE = Path.of("/tmp", "ofi4j-tests-of-abandoned-files.lock");

    private static final Duration TIMEOUT = Duration.ofMinutes(20);

    private FileChannel channel;

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        channel = FileChannel.open(FILE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean isLocked = Waiting.BACKOFF.tryUntil(this::tryLock, TIMEOUT);
        assertThat(isLocked).as("no other JVM keeps the lock of " + FILE).isTrue();
    }

    private boolean tryLock() {
        try {
            return channel.tryLock() != null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException { if (channel != null) { channel.close(); } }
}
