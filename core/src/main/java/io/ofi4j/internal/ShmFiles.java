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
    /** What an endpoint's file takes, and a little more. */
    private static final long ROOM = 17 << 20;
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
     * The file of an endpoint, perhaps another process's.
     *
     * @param address {@code fi_shm://…} or {@code fi_ns://…}, ending with a zero byte
     * @return the file, or nothing where there is none
     */
    public static Optional<Path> find(byte[] address) {
        String name = new String(address, StandardCharsets.UTF_8);
        int end = name.indexOf('\0');
        int start = name.indexOf("://");
        if (start < 0) {
            return Optional.empty();
        }
        try {
            Path file = FOLDER.resolve(name.substring(start + 3, end < 0 ? name.length() : end));
            return FOLDER.equals(file.getParent()) && Files.exists(file) ? Optional.of(file) : Optional.empty();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** As {@link #find}, of an endpoint whose process still has it, as far as this one may know. */
    public static Optional<Path> findUsed(byte[] address) {
        return find(address).filter(file -> !FileLease.isUnused(file));
    }

    /** Forgets the file of an endpoint that was closed. */
    public static void forget(Path file) {
        OPEN.remove(file);
    }

    /**
     * Whether the file of one more endpoint finds room. The provider asks for it only when its first endpoint is looked for;
     * where a page of the file finds none, the kernel ends the process (SIGBUS).
     */
    public static boolean hasRoom() {
        try {
            return Files.getFileStore(FOLDER).getUsableSpace() >= ROOM;
        } catch (IOException e) {
            return true; // the provider will say what is wrong
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
