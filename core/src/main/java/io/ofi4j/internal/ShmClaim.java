package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A place in the queue of commands of an shm endpoint of libfabric 2.1 that was claimed and never filled. Whoever posts claims the next
 * place, fills it, and numbers it anew; the endpoint takes places in order, so that one whose poster was killed in between hides all
 * that come behind it: also the one in which a process says who it is, before it posts anything.
 */
@SuppressWarnings("restricted")
final class ShmClaim implements ShmStall {
    private static final byte LAYOUT = 8;
    private static final int SIZE_AT = 72;
    private static final int QUEUE_OFFSET_AT = 80;
    private static final int NEXT_OFFSET_AT = 88;
    private static final int QUEUE_AT = 192;
    /** Which place is claimed next, and which is taken next. */
    private static final int CLAIMED_AT = QUEUE_AT;
    private static final int TAKEN_AT = QUEUE_AT + 64;
    private static final int PLACES_AT = QUEUE_AT + 128;
    private static final int MASK_AT = PLACES_AT + Integer.BYTES;
    private static final int RING_AT = QUEUE_AT + 192;
    private static final int PLACE = 576;
    /** Where a place says that it is to be passed over. */
    private static final int EMPTY_AT = 8;

    private static final VarHandle NUMBER = JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private final long places;
    private long lastTaken = -1;

    private ShmClaim(long address, long places) {
        this.memory = MemorySegment.ofAddress(address).reinterpret(RING_AT + places * PLACE);
        this.places = places;
    }

    /** How many places the queue in a file has; 0 where the layout is another. */
    static int places(Path file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(RING_AT).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.read(header, 0) < RING_AT) {
                return 0;
            }
            int places = header.getInt(PLACES_AT);
            boolean known = header.get(0) == LAYOUT && header.getLong(SIZE_AT) == channel.size()
                    && header.getLong(QUEUE_OFFSET_AT) == QUEUE_AT && Integer.bitCount(places) == 1
                    && header.getInt(MASK_AT) == places - 1
                    && header.getLong(NEXT_OFFSET_AT) == RING_AT + (long) places * PLACE;
            return known ? places : 0;
        }
    }

    /** In memory that the provider has mapped. */
    static ShmClaim at(long address, int places) {
        return new ShmClaim(address, places);
    }

    @Override
    public boolean isStill() {
        long taken = number(TAKEN_AT);
        boolean isStill = taken == lastTaken && isUnfilled(taken);
        lastTaken = taken;
        return isStill;
    }

    /** Whether it was claimed, and has the number of a place that is free. */
    private boolean isUnfilled(long place) {
        return number(CLAIMED_AT) > place && number(at(place)) == place;
    }

    /** This one place was claimed before they were looked for: who was seen elsewhere since then has not claimed it. */
    @Override
    public boolean isNoneOf(LockSuspects suspects) throws IOException {
        return suspects.haveAlibis();
    }

    @Override
    public void end() {
        long at = at(lastTaken);
        if (isUnfilled(lastTaken)) {
            memory.set(JAVA_BYTE, at + EMPTY_AT, (byte) 1);
            NUMBER.compareAndSet(memory, at, lastTaken, lastTaken + 1);
        }
    }

    private long at(long place) {
        return RING_AT + (place & places - 1) * PLACE;
    }

    private long number(long at) {
        return (long) NUMBER.getVolatile(memory, at);
    }
}
