package io.ofi4j.examples;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keeps those tests apart, in all JVMs of this machine, that look for abandoned files in /dev/shm, or remove them: who
 * looks at a file has it open, and it is in use then.
 */
public final class AbandonedFilesLock implements BeforeEachCallback, AfterEachCallback {
    private static final Path FILE = Path.of("/tmp", "ofi4j-tests-of-abandoned-files.lock");

    private FileChannel channel;

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        channel = FileChannel.open(FILE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        channel.lock();
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException { channel.close(); }
}
