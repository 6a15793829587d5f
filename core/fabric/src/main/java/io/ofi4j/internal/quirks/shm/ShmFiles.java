package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.quirks.EndpointView;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.Tested;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Removes the files of this process's open shm endpoints when the process exits. It only unlinks them: other threads
 * may still be in a call on an endpoint, so closing is not safe then.
 */
final class ShmFiles extends Quirk {
    static final Path FOLDER = Path.of("/dev/shm");

    private final Set<Path> open = ConcurrentHashMap.newKeySet();
    private boolean hooked;

    ShmFiles() {
        super("shm-files", provider -> provider.is("shm"), Tested.ALL,
                "Each endpoint has a file of 16 MB in /dev/shm, which stays when the process exits without closing the endpoint.",
                "JvmSurvivalTest");
    }

    @Override
    protected void enabled(EndpointView endpoint) {
        find(endpoint.address()).ifPresent(file -> {
            hook();
            open.add(file);
        });
    }

    @Override
    protected void closed(EndpointView endpoint) { place(endpoint.address()).ifPresent(open::remove); }

    /**
     * Why the file of an endpoint that is to be enabled cannot be made: its name, or no descriptor is left; 0 if it
     * can.
     */
    static int whyNot(EndpointAddress address) {
        String text = new String(address.toBytes(), StandardCharsets.UTF_8);
        int start = text.indexOf("://") < 0 ? 0 : text.indexOf("://") + 3;
        int end = text.indexOf('\0', start);
        String name = text.substring(start, end < 0 ? text.length() : end);
        String own = name.startsWith("/") ? name.substring(1) : name;
        if (own.isEmpty() || own.indexOf('/') >= 0 || own.equals(".") || own.equals("..")) { return Errno.EINVAL; }
        try (NativeFile spare = NativeFile.openFolder(FOLDER)) {
            return spare.error();
        }
    }

    /**
     * Removes the file of this name that another process has left, an exception to the rule of {@link Quirk}: nobody
     * has it open, and the provider would overwrite it. 0, or EADDRINUSE if it stays.
     */
    static int removeLeft(EndpointAddress address) {
        Optional<Path> left = find(address);
        left.ifPresent(ShmRoom::requireNoOther);
        return left.isEmpty() || left.get().toFile().delete() ? 0 : Errno.EADDRINUSE;
    }

    /** Where the file of an address belongs; nothing where the address is none of a file in the folder. */
    static Optional<Path> place(EndpointAddress address) {
        String name = new String(address.toBytes(), StandardCharsets.UTF_8);
        int start = name.indexOf("://");
        if (start < 0) { return Optional.empty(); }
        int end = name.indexOf('\0', start);
        try {
            Path file = FOLDER.resolve(name.substring(start + 3, end < 0 ? name.length() : end));
            return FOLDER.equals(file.getParent()) ? Optional.of(file) : Optional.empty();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The file of an endpoint, perhaps another process's; nothing where there is none. */
    static Optional<Path> find(EndpointAddress address) {
        return place(address).filter(Files::exists);
    }

    /** Refuses an address that no endpoint has. */
    static void require(EndpointAddress address) {
        if (find(address).isEmpty()) { throw Status.exception(-Errno.ENOENT, "fi_av_insert", "shm"); }
    }

    private synchronized void hook() {
        if (hooked) { return; }
        hooked = true;
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(this::removeAll, "ofi4j-shm-files"));
        } catch (IllegalStateException e) {
            return; // the process exits already: what is not closed stays, as after a C program
        }
    }

    /** What cannot be removed is somebody else's, who may remove it. */
    private void removeAll() {
        open.forEach(file -> file.toFile().delete());
    }
}
