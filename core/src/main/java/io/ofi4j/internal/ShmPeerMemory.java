package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The memory of another process's shm endpoint of libfabric 1.x (struct smr_region), which this process has mapped, too: whoever
 * posts to the endpoint takes the lock in it, and its own process holds that while it works off what was posted. A process that
 * is killed then leaves the lock locked, and who takes it next waits inside the provider for ever.
 */
@SuppressWarnings("restricted")
public final class ShmPeerMemory implements AutoCloseable {
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final long PAGE = 4096;
    /** Of the layout that is known here: that of libfabric 1.17, where the queue of commands follows the header. */
    private static final byte LAYOUT = 4;
    private static final long COMMAND_QUEUE = 128;
    private static final int PROCESS_AT = 4;
    private static final int LOCK_AT = 24;
    private static final int SIZE_AT = 40;
    private static final int ROOM_AT = 48;
    private static final int COMMAND_QUEUE_AT = 64;
    /** The rights with which the provider maps it, and this class does not. */
    private static final String SHARED = "rw-s";
    private static final VarHandle LOCK = JAVA_INT.varHandle();
    /** A lock of glibc is free with 1 in it, and locked with less. */
    private static final int FREE = 1;

    private final Path file;
    private final String inode;
    private final OtherProcess process;
    private final Arena arena = Arena.ofShared();
    /** Mapped once more, to be looked at: where the provider has mapped it, it may be unmapped at any time. */
    private final MemorySegment header;

    private ShmPeerMemory(Path file, String inode, OtherProcess process, FileChannel channel) throws IOException {
        this.file = file;
        this.inode = inode;
        this.process = process;
        this.header = channel.map(MapMode.READ_ONLY, 0, PAGE, arena);
    }

    /** Of a file in /dev/shm; nothing where its layout is another, or its process is this one or cannot be seen. */
    public static Optional<ShmPeerMemory> of(Path file) {
        ByteBuffer header = ByteBuffer.allocate((int) COMMAND_QUEUE).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            boolean known = channel.read(header, 0) == COMMAND_QUEUE && header.get(0) == LAYOUT
                    && header.getLong(SIZE_AT) == channel.size() && header.getLong(COMMAND_QUEUE_AT) == COMMAND_QUEUE;
            int number = header.getInt(PROCESS_AT);
            if (!known || number == ProcessHandle.current().pid()) {
                return Optional.empty();
            }
            Optional<OtherProcess> process = OtherProcess.thatMaps(file, number);
            return process.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new ShmPeerMemory(file, inode(file), process.get(), channel));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino").toString();
    }

    /** Forgets it; nothing is looked at any more. */
    @Override
    public void close() {
        arena.close();
    }

    /** Whether a file is this memory's: another endpoint may have the same name later. */
    public boolean isOf(Path other) {
        try {
            return file.equals(other) && inode.equals(inode(other));
        } catch (IOException e) {
            return false;
        }
    }

    public boolean hasLostItsProcess() {
        return process.hasEnded();
    }

    /** Whether the lock is locked now. */
    public boolean isLocked() {
        return (int) LOCK.getVolatile(header, (long) LOCK_AT) < FREE;
    }

    /**
     * Puts a copy of the header, which only this process sees, in the place of what is shared, wherever the provider has mapped
     * that. In it the lock is free and there is no room for commands, so that who waits for the lock gets it, and is told to try
     * again later. What other processes see, and who of them may hold the lock, stays as it is.
     *
     * @return whether that has happened: the system may have no more memory
     */
    public boolean detach() {
        try {
            for (long address : addresses()) {
                if (!detach(address)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Where the provider has mapped it. */
    private List<Long> addresses() throws IOException {
        List<Long> addresses = new ArrayList<>();
        for (String line : Files.readAllLines(MAPPINGS, StandardCharsets.ISO_8859_1)) {
            // "address-end rights offset device inode file", and "(deleted)" where the file is
            String[] words = line.split(" +");
            boolean isIts = words.length > 5 && words[4].equals(inode) && words[5].equals(file.toString());
            if (isIts && words[1].equals(SHARED) && Long.parseLong(words[2], 16) == 0) {
                addresses.add(Long.parseUnsignedLong(words[0], 0, words[0].indexOf('-'), 16));
            }
        }
        return addresses;
    }

    private static boolean detach(long address) {
        long page = NativeMemory.map(PAGE);
        MemorySegment copy = MemorySegment.ofAddress(page).reinterpret(PAGE);
        copy.copyFrom(MemorySegment.ofAddress(address).reinterpret(PAGE));
        copy.set(JAVA_LONG, ROOM_AT, 0);
        copy.set(JAVA_INT, LOCK_AT, FREE);
        return NativeMemory.movePage(page, address);
    }
}
