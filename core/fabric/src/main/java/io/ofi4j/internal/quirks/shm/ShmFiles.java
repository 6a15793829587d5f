package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.quirks.EndpointView;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Removes the files of this process's open shm endpoints when the process exits. It only unlinks them: other threads
 * may still be in a call on an endpoint, so closing is not safe then. From then on no endpoint is enabled.
 */
final class ShmFiles extends Quirk {
    private static final String UPSTREAM = """
            Each endpoint has a file of 16 MB in /dev/shm, which stays when the process exits without closing the \
            endpoint.""";
    static final Path DIRECTORY = Path.of("/dev/shm");

    private static final int ENABLE_TIMEOUT_SECONDS = 3;

    private final Set<Path> open = ConcurrentHashMap.newKeySet();
    /** The read lock is held while an endpoint is enabled, whose file is not known yet; the write lock at the exit. */
    private final ReadWriteLock enabling = new ReentrantReadWriteLock();
    /** How many endpoints are being enabled. Used under the monitor, as the hook. */
    private int beingEnabled;
    /** Null while there are no endpoints: it would keep the class loader of a program that was unloaded. */
    private Thread hook;
    private volatile boolean exiting;

    ShmFiles() {
        super("shm-files", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM, "JvmSurvivalTest");
    }

    @Override
    protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize, IntSupplier enable) {
        enabling.readLock().lock();
        try {
            boolean isHooked = beginEnable();
            if (exiting) {
                throw new IllegalStateException(
                        "this process exits: no endpoint of the provider shm can be enabled any more,"
                                + " for its file would stay in " + DIRECTORY);
            }
            if (!isHooked) { path(address.get()).ifPresent(file -> file.toFile().deleteOnExit()); }
            int status = enable.getAsInt();
            if (status == 0) { path(address.get()).ifPresent(open::add); }
            return status;
        } finally {
            endEnable();
            enabling.readLock().unlock();
        }
    }

    @Override
    protected void closed(EndpointView endpoint) {
        path(endpoint.address()).ifPresent(open::remove);
        removeUnusedHook();
    }

    /**
     * The error number with which the file of a new endpoint cannot be made, because of its name, for lack of a
     * descriptor, or because the folder takes none; 0 if it can.
     */
    static int creationError(EndpointAddress address) {
        String text = new String(address.toBytes(), StandardCharsets.UTF_8);
        int start = text.indexOf("://") < 0 ? 0 : text.indexOf("://") + 3;
        int end = text.indexOf('\0', start);
        String name = text.substring(start, end < 0 ? text.length() : end);
        String own = name.startsWith("/") ? name.substring(1) : name;
        if (own.isEmpty() || own.indexOf('/') >= 0 || own.equals(".") || own.equals("..")) { return Errno.EINVAL; }
        try (NativeFile file = NativeFile.createUnnamed(DIRECTORY)) {
            if (file.error() != Errno.EOPNOTSUPP) { return file.error(); }
        }
        try (NativeFile folder = NativeFile.openFolder(DIRECTORY)) {
            return folder.error();
        }
    }

    /** The path of the file of an address; empty if the address does not name a file in the folder. */
    static Optional<Path> path(EndpointAddress address) {
        String name = new String(address.toBytes(), StandardCharsets.UTF_8);
        int start = name.indexOf("://");
        if (start < 0) { return Optional.empty(); }
        int end = name.indexOf('\0', start);
        try {
            Path file = DIRECTORY.resolve(name.substring(start + 3, end < 0 ? name.length() : end));
            return DIRECTORY.equals(file.getParent()) ? Optional.of(file) : Optional.empty();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The existing file of an endpoint, perhaps of another process; empty if there is none. */
    static Optional<Path> find(EndpointAddress address) {
        return path(address).filter(Files::exists);
    }

    /** Refuses an address that no endpoint has. */
    static void requireExists(EndpointAddress address) {
        if (find(address).isEmpty()) { throw Status.exception(-Errno.ENOENT, "fi_av_insert", "shm"); }
    }

    /**
     * Adds the hook that removes the files. Returns false if the first endpoint is enabled by a shutdown hook of the
     * program: then no more can be added.
     */
    private synchronized boolean beginEnable() {
        beingEnabled++;
        if (hook != null) { return true; }
        Thread added = new Thread(this::removeAll, "ofi4j-shm-files");
        try {
            Runtime.getRuntime().addShutdownHook(added);
            hook = added;
        } catch (IllegalStateException e) {
            return false;
        }
        return true;
    }

    private synchronized void endEnable() {
        beingEnabled--;
        removeUnusedHook();
    }

    private synchronized void removeUnusedHook() {
        if (hook == null || beingEnabled > 0 || !open.isEmpty()) { return; }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            hook = null;
        } catch (IllegalStateException e) {
            return; // the process exits: the hook runs
        }
    }

    /**
     * Removes the files. One that cannot be removed belongs to another user, and stays. An endpoint that takes long to
     * enable is not waited for.
     */
    private void removeAll() {
        boolean locked = false;
        exiting = true;
        try {
            locked = enabling.writeLock().tryLock(ENABLE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        open.forEach(file -> file.toFile().delete());
        if (locked) { enabling.writeLock().unlock(); }
    }
}
