package io.ofi4j.internal;

import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * The operations in flight on one completion queue: a slab of {@code struct fi_context2} that providers write into, and
 * beside each the caller's token and who is concerned. An operation's context is the address of its slot, so that a
 * completion leads back with a subtraction and a shift.
 *
 * <p>Plain numbers, not references, are stored per operation: no garbage-collection barrier runs on the data path.
 *
 * <p>Not thread-safe: the queue's guard serialises it.
 */
public final class ContextSlab {
    /** {@code sizeof(struct fi_context2)}, eight pointers; also a cache line, so that no two slots share one. */
    static final long SLOT_SIZE = 64;
    private static final int SLOT_SHIFT = 6;
    private static final int NONE = -1;

    /** Numbers per slot: the token, or the next free slot's number; then the owner. */
    private static final int FIELDS = 2;
    /** Set in the lower half of an owner where the operation concerns further regions. */
    private static final long SEVERAL = 0x8000_0000L;
    /** How many regions beyond the first one operation may concern. */
    public static final int FURTHER = 15;

    private final long base;
    private final int slots;
    /**
     * In one array, so that one bounds check and one cache line serve an operation. The owner is the endpoint's number in the
     * upper half and the region's in the lower, 0 while the slot is free.
     */
    private final long[] records;
    /** The further regions of operations on several, {@link #FURTHER} numbers a slot; made when first needed. */
    private int[] further;
    private int firstFree;
    private int inFlight;

    /**
     * @param memory where the slab comes from; it must live until no provider can write to it
     * @param slots how many operations can be in flight
     */
    public ContextSlab(Arena memory, int slots) {
        this.base = memory.allocate(slots * SLOT_SIZE, SLOT_SIZE).address();
        this.slots = slots;
        this.records = new long[slots * FIELDS];
        for (int slot = 0; slot < slots; slot++) {
            records[slot * FIELDS] = slot + 1L < slots ? slot + 1L : NONE; // the last freed goes first: few cache lines
        }
    }

    /** Takes a slot, or returns -1 where none is free. Numbers of endpoints and regions begin at 1. */
    public int acquire(long token, int endpoint, int region) {
        int slot = firstFree;
        if (slot == NONE) {
            return NONE;
        }
        long[] all = records;
        int at = slot * FIELDS;
        firstFree = (int) all[at];
        inFlight++;
        all[at] = token;
        all[at + 1] = (long) endpoint << 32 | region; // both are positive
        return slot;
    }

    /** Notes the further regions of an operation that was just begun on one: numbers, as many as are not 0. */
    public void alsoConcerns(int slot, int[] regions, int count) {
        if (count > FURTHER) {
            throw new IllegalArgumentException("more than " + (FURTHER + 1) + " regions");
        }
        if (further == null) {
            further = new int[slots * FURTHER];
        }
        System.arraycopy(regions, 0, further, slot * FURTHER, count);
        Arrays.fill(further, slot * FURTHER + count, (slot + 1) * FURTHER, 0);
        records[slot * FIELDS + 1] |= SEVERAL;
    }

    public void release(int slot) {
        long[] all = records;
        int at = slot * FIELDS;
        all[at + 1] = 0;
        all[at] = firstFree;
        firstFree = slot;
        inFlight--;
    }

    /** The op_context of a slot. */
    public long context(int slot) {
        return base + ((long) slot << SLOT_SHIFT);
    }

    /** The slot in flight behind an op_context, or -1 if it is none of ours. */
    public int slotOf(long context) {
        long slot = context - base >> SLOT_SHIFT;
        if (slot < 0 || slot >= slots) {
            return NONE;
        }
        return records[(int) slot * FIELDS + 1] == 0 ? NONE : (int) slot;
    }

    public long token(int slot) {
        return records[slot * FIELDS];
    }

    public int inFlight() {
        return inFlight;
    }

    public int capacity() {
        return slots;
    }

    /** How many operations concern a region. */
    public int inFlightOfRegion(int region) {
        int count = 0;
        for (int slot = 0; inFlight > 0 && slot < slots; slot++) {
            int first = (int) records[slot * FIELDS + 1];
            if (first == region || first < 0 && concerns(slot, first & Integer.MAX_VALUE, region)) {
                count++;
            }
        }
        return count;
    }

    private boolean concerns(int slot, int first, int region) {
        boolean found = first == region;
        for (int i = 0; i < FURTHER; i++) {
            found |= further[slot * FURTHER + i] == region;
        }
        return found;
    }

    /** Frees the slots of an endpoint that is gone; their tokens. */
    public long[] releaseEndpoint(int endpoint) {
        long[] released = new long[inFlight];
        int count = 0;
        for (int slot = 0; slot < slots; slot++) {
            if (records[slot * FIELDS + 1] >>> 32 == endpoint) {
                released[count++] = token(slot);
                release(slot);
            }
        }
        return Arrays.copyOf(released, count);
    }
}
