package io.ofi4j.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The files of open shm endpoints. Each is 16 MB in /dev/shm and outlives the process unless somebody removes it, so a
 * shutdown hook does. It only unlinks: other threads may still be in a call on the endpoint, so closing is not safe then.
 */
public final class ShmFiles {
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();
    private static boolean hooked;

    private ShmFiles() {
    }

    /**
     * Remembers the file of an endpoint.
     *
     * @param address what fi_getname gave
     * @return the file, or nothing where the endpoint has none
     */
    public static synchronized Optional<Path> remember(byte[] address) {
        Optional<Path> file = find(address);
        if (file.isPresent()) {
            hook();
            OPEN.add(file.get());
        }
        return file;
    }

    /**
     * Where the file of an endpoint is, or will be.
     *
     * @param address {@code fi_shm://…} or {@code fi_ns://…}, ending with a zero byte
     * @return the file, or nothing where it is no such address
     */
    static Optional<Path> place(byte[] address) {
        String name = new String(address, StandardCharsets.UTF_8);
        int end = name.indexOf('\0');
        int start = name.indexOf("://");
        if (start < 0) {
            return Optional.empty();
        }
        try {
            Path file = FOLDER.resolve(name.substring(start + 3, end < 0 ? name.length() : end));
            return FOLDER.equals(file.getParent()) ? Optional.of(file) : Optional.empty();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The file of an endpoint, perhaps another process's; nothing where there is none. */
    public static Optional<Path> find(byte[] address) {
        return place(address).filter(Files::exists);
    }

    /** As {@link #find}, of an endpoint that is ready for others. */
    static Optional<Path> findReady(byte[] address) {
        return place(address).filter(file -> ShmFileHeader.of(file).filter(ShmFileHeader::isReady).isPresent());
    }

    public static boolean isReady(byte[] address) {
        return findReady(address).isPresent();
    }

    /** Whether there is a file, and it neither is nor will be that of an endpoint whose memory this libfabric understands. */
    static boolean isForeign(byte[] address) {
        return place(address).filter(ShmFileHeader::hasProcess).isPresent() && !isReady(address);
    }

    /** Forgets the file of an endpoint that was closed. */
    public static void forget(Path file) {
        OPEN.remove(file);
    }

    /** How many bytes there is room for. */
    static long room() {
        try {
            return Files.getFileStore(FOLDER).getUsableSpace();
        } catch (IOException e) {
            return Long.MAX_VALUE; // the provider will say what is wrong
        }
    }

    private static void hook() {
        if (!hooked) {
            hooked = true;
            Runtime.getRuntime().addShutdownHook(new Thread(ShmFiles::removeAll, "ofi4j-shm-files"));
        }
    }

    private static void removeAll() {
        for (Path file : OPEN) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                // The process ends; the next one finds the file.
            }
        }
    }
}
