package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * How the memory of an shm endpoint of libfabric 1.17 begins (struct smr_region): with a lock that whoever posts to the endpoint
 * takes, and its own process too while it works off what was posted; and with how much room there is. The queue of commands follows.
 */
@SuppressWarnings("restricted")
final class ShmHeader implements ShmStall {
    static final long PAGE = 4096;

    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    /** The rights with which the provider maps, and nobody else here. */
    private static final String PROVIDERS = "rw-s";
    private static final byte LAYOUT = 4;
    private static final int PROCESS_AT = 4;
    private static final int LOCK_AT = 24;
    private static final int SIGNAL_AT = 28;
    private static final int SIZE_AT = 40;
    private static final int ROOM_AT = 48;
    private static final int QUEUE_OFFSET_AT = 64;
    private static final int QUEUE_AT = 128;
    private static final int TAKEN_AT = QUEUE_AT + 16;
    private static final int PUT_AT = QUEUE_AT + 24;
    /** A lock of glibc is free with 1 in it, and locked with less. */
    private static final int FREE = 1;
    /** Of what one operation takes there may be too much noted as room. */
    private static final int MOST_COMMANDS_OF_ONE = 2;
    /** How often it is read in one look. */
    private static final int TIMES = 1000;

    private final long address;
    private final MemorySegment page;
    private int lastLock;
    private long lastMovement;

    ShmHeader(long address) {
        this.address = address;
        this.page = MemorySegment.ofAddress(address).reinterpret(PAGE);
    }

    /** The number of the process whose endpoint a file is; 0 where the layout is another. */
    static int process(Path file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(QUEUE_AT).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            boolean known = channel.read(header, 0) == QUEUE_AT && header.get(0) == LAYOUT
                    && header.getLong(SIZE_AT) == channel.size() && header.getLong(QUEUE_OFFSET_AT) == QUEUE_AT;
            return known ? header.getInt(PROCESS_AT) : 0;
        }
    }

    /** What tells a file from others that may have its name later. */
    static String inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino").toString();
    }

    /** Where the provider has mapped a file. */
    static List<ShmHeader> mapped(Path file, String inode) throws IOException {
        List<ShmHeader> found = new ArrayList<>();
        for (String line : Files.readAllLines(MAPPINGS, StandardCharsets.ISO_8859_1)) {
            // "address-end rights offset device inode file", and "(deleted)" where the file is
            String[] words = line.split(" +");
            boolean isIts = words.length > 5 && words[4].equals(inode) && words[5].equals(file.toString());
            if (isIts && words[1].equals(PROVIDERS) && Long.parseLong(words[2], 16) == 0) {
                found.add(new ShmHeader(Long.parseUnsignedLong(words[0], 0, words[0].indexOf('-'), 16)));
            }
        }
        return found;
    }

    long address() {
        return address;
    }

    /**
     * Whether the lock has been locked, and nothing posted or worked off, since the last look: it has not gone up meanwhile, as it
     * does when it is unlocked. Within a look it is read for longer than a thread holds it.
     */
    @Override
    public boolean isStill() {
        long moved = page.get(JAVA_LONG, TAKEN_AT) + page.get(JAVA_LONG, PUT_AT);
        boolean isStill = moved == lastMovement;
        int times = 0;
        do {
            int lock = page.get(JAVA_INT, LOCK_AT);
            isStill &= lock < FREE && lock <= lastLock;
            lastLock = lock;
            Thread.onSpinWait();
            VarHandle.acquireFence();
        } while (isStill && ++times < TIMES);
        lastMovement = moved;
        return isStill;
    }

    @Override
    public boolean isNoneOf(LockSuspects suspects) throws IOException {
        return suspects.areInnocent();
    }

    /** Takes out what was not posted as a whole, and unlocks. */
    @Override
    public void end() {
        if (commands().dropHalf()) {
            room(Math.max(0, room() - MOST_COMMANDS_OF_ONE));
            signal();
            unlock();
        }
    }

    void unlock() {
        VarHandle.releaseFence();
        page.set(JAVA_INT, LOCK_AT, FREE);
    }

    private long room() {
        return page.get(JAVA_LONG, ROOM_AT);
    }

    void room(long commands) {
        page.set(JAVA_LONG, ROOM_AT, commands);
    }

    /** Has the process look for commands. */
    private void signal() {
        page.set(JAVA_INT, SIGNAL_AT, 1);
    }

    private ShmCommands commands() {
        return new ShmCommands(address + QUEUE_AT);
    }
}
