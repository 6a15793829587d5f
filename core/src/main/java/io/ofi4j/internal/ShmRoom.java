package io.ofi4j.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Room in /dev/shm for the file of an shm endpoint. The provider makes a file as long as it may ever need, and the system looks for room when
 * a page of it is written to first: where there is none then, it ends the process (SIGBUS). So the file is there, with all of its room,
 * before the provider opens it, which takes it for one that a process left which has ended; and the file of another process's
 * endpoint gets what it lacks before anything is written to it.
 */
public final class ShmRoom implements AutoCloseable {
    /** {@code false} leaves it to luck whether there is room, and saves what endpoints do not use of their files. */
    private static final boolean RESERVES = !"false".equals(System.getProperty("io.ofi4j.shm.reserve"));
    /** What the file holds: for each command to come, for each that goes out, and beside. */
    private static final long FOR_EACH_RECEIVED = 4096 + 2 + 576;
    private static final long FOR_EACH_SENT = 16;
    private static final long BESIDE = 256 * (32768 + 2 + 320) + 4096;

    private final Path file;
    private final NativeFile reserved;
    private final int status;
    private boolean enabled;

    private ShmRoom(Path file, NativeFile reserved, int status) {
        this.file = file;
        this.reserved = reserved;
        this.status = status;
    }

    /**
     * Makes room for an endpoint that is about to be enabled.
     *
     * @param address what fi_getname gave
     * @param sent how many commands it may have under way
     * @param received how many others may have under way to it
     */
    public static ShmRoom take(byte[] address, long sent, long received) {
        Optional<Path> place = ShmFiles.place(address);
        if (place.isEmpty()) {
            return new ShmRoom(null, null, 0);
        }
        Path file = place.get();
        if (Files.exists(file)) { // the provider would remove it, though it is another's
            return new ShmRoom(file, null, -Errno.EADDRINUSE);
        }
        long size = size(sent, received);
        if (ShmFiles.room() < size) {
            return new ShmRoom(file, null, -Errno.ENOSPC);
        }
        return RESERVES && ShmFileHeader.layoutHere() != 0 ? make(file, size) : new ShmRoom(file, null, 0);
    }

    private static long size(long sent, long received) {
        long all = received * FOR_EACH_RECEIVED + sent * FOR_EACH_SENT + BESIDE;
        return Long.highestOneBit(all - 1) << 1;
    }

    private static ShmRoom make(Path file, long size) {
        NativeFile made = NativeFile.unnamed(file.getParent());
        if (made.error() != 0) {
            return new ShmRoom(file, null, 0); // the provider will say what is wrong
        }
        int error = refusal(made.reserve(0, size, true));
        if (error == 0) {
            ShmFileHeader.write(made, size, file);
            error = made.link(file) == NativeFile.EEXIST ? Errno.EADDRINUSE : 0;
        }
        if (error != 0) {
            made.close();
        }
        return new ShmRoom(file, error == 0 ? made : null, -error);
    }

    /** What to tell of an error of fallocate: there may be file systems that do not know it. */
    private static int refusal(int error) {
        return error == Errno.ENOSPC || error == Errno.ENOMEM ? error : 0;
    }

    /** 0, or why there is no room, below 0. */
    public int status() {
        return status;
    }

    /** Where the endpoint's file belongs; null where its address is none of a file. */
    public Path file() {
        return file;
    }

    /** The endpoint has been enabled: gives its file what it still lacks. 0, or why there is no room, below 0. */
    public int complete() {
        enabled = true;
        return file == null ? 0 : fill(file);
    }

    /** Gives the file of a peer what it lacks, if it is there. 0, or why there is no room or no such file, below 0. */
    public static int ofPeer(byte[] address) {
        return ShmFiles.isForeign(address) ? -Errno.ENOENT : ShmFiles.findReady(address).map(ShmRoom::fill).orElse(0);
    }

    private static int fill(Path file) {
        if (!RESERVES) {
            return 0;
        }
        try (NativeFile open = NativeFile.open(file)) {
            if (open.error() != 0) {
                return open.error() == Errno.EMFILE ? -open.error() : 0; // of another, who may; or the provider will say so
            }
            long missing = open.missing();
            if (missing <= 0) {
                return 0;
            }
            return ShmFiles.room() < missing ? -Errno.ENOSPC : -refusal(open.reserve(0, open.size(), false));
        }
    }

    @Override
    public void close() {
        if (reserved != null) {
            if (!enabled) {
                removeMade();
            }
            reserved.close();
        }
    }

    private void removeMade() {
        try {
            if (Files.isSameFile(file, reserved.path())) {
                Files.delete(file);
            }
        } catch (IOException e) {
            // the provider has removed it
        }
    }
}
