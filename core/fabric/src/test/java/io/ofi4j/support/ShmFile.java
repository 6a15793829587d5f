package io.ofi4j.support;

import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The file in /dev/shm of an endpoint of shm. */
public final class ShmFile {
    private static final Path FOLDER = Path.of("/dev/shm");
    /** The number of a process, of the user or the domain, and of the endpoint. */
    private static final String NAMES = "[0-9]*:[0-9]*:[0-9]*";

    private ShmFile() {}

    public static Path of(Endpoint endpoint) { return of(endpoint.address()); }

    public static Path of(EndpointAddress address) {
        String name = new String(address.toBytes());
        return FOLDER.resolve(name.substring(name.indexOf("://") + 3, name.indexOf('\0')));
    }

    /**
     * Removes the files of processes that have ended, which other tests have killed. A process that has got the number
     * of one of these could not open an endpoint without ofi4j's quirks.
     */
    public static void removeAbandoned() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(FOLDER, NAMES)) {
            for (Path file : files) {
                String process = file.getFileName().toString().replaceFirst(":.*", "");
                if (ProcessHandle.of(Long.parseLong(process)).isEmpty()) { Files.deleteIfExists(file); }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
