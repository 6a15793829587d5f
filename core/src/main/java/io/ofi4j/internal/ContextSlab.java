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
    private static final long LOWER = (1L << 32) - 1;
    private static final long UPPER = ~LOWER;

    /** Numbers per slot: the token; then the owner, or what was free before this slot was. */
    private static final int FIELDS = 2;
    /** The sign: set in what stands for a free slot. */
    private static final long FREE = Long.MIN_VALUE;
    /** One more free slot. */
    private static final long ONE = 1L << 32;
    /** Set in an owner where nobody wants to know that the operation went well. */
    private static final long SILENT = 1L << 62;
    /** Added to an endpoint's number where nobody wants to know that the operation went well. */
    public static final int SILENT_ENDPOINT = 1 << 30;
    /** Endpoints and regions have numbers from 1 to this one. */
    public static final int LARGEST_NUMBER = (1 << 30) - 1;
    /** Set in the lower half of an owner where the operation concerns further regions. */
    private static final long SEVERAL = 0x8000_0000L;
    /** How many regions beyond the first one operation may concern. */
    public static final int FURTHER = 15;

    private final long base;
    private final int slots;
    /**
     * In one array, so that one bounds check and one cache line serve an operation. The owner is the endpoint's number in the
     * upper half and the region's in the lower.
     */
    private final long[] records;
    /** The further regions of operations on several, {@link #FURTHER} numbers a slot; made when first needed. */
    private int[] further;
    /**
     * The slot to be taken next in the lower half, how many more are free in the upper, and {@link #FREE}. One number, and that
     * of the slot below it stands where the slot's owner will: a post and its completion write five numbers together. Their
     * count shows, because the provider's next locked instruction waits until all are written.
     */
    private long free;
    /** How often there was no free slot for an operation. */
    private long timesFull;

    /**
     * @param memory where the slab comes from; it must live until no provider can write to it
     * @param slots how many operations can be in flight
     */
    public ContextSlab(Arena memory, int slots) {
        this.base = memory.allocate(slots * SLOT_SIZE, SLOT_SIZE).address();
        this.slots = slots;
        this.records = new long[slots * FIELDS];
        this.free = FREE | NONE & LOWER;
        for (int slot = slots - 1; slot >= 0; slot--) {
            release(slot); // the last freed goes first: few cache lines
        }
    }

    /** Takes a slot, or returns -1 where none is free. Numbers are positive, and at most {@link #LARGEST_NUMBER}. */
    public int acquire(long token, int endpoint, int region) {
        int slot = (int) free;
        if (slot == NONE) {
            timesFull++;
            return NONE;
        }
        long[] all = records;
        int at = slot * FIELDS;
        free = all[at + 1];
        all[at] = token;
        all[at + 1] = (long) endpoint << 32 | region;
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
        long before = free;
        records[slot * FIELDS + 1] = before;
        free = (before & UPPER) + ONE | slot;
    }

    /** Whether an operation was begun by a {@link #SILENT_ENDPOINT}; its slot, or -1. */
    public boolean isSilent(int slot) {
        return slot >= 0 && (records[slot * FIELDS + 1] & SILENT) != 0;
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
        return records[(int) slot * FIELDS + 1] < 0 ? NONE : (int) slot;
    }

    public long token(int slot) {
        return records[slot * FIELDS];
    }

    public int inFlight() {
        return slots - (int) (free >>> 32 & Integer.MAX_VALUE);
    }

    public int capacity() {
        return slots;
    }

    public long timesFull() {
        return timesFull;
    }

    /** How many operations an endpoint has in flight. */
    public int inFlightOfEndpoint(int endpoint) {
        int count = 0;
        for (int slot = 0; inFlight() > 0 && slot < slots; slot++) {
            long owner = records[slot * FIELDS + 1];
            if (owner > 0 && (owner & ~SILENT) >>> 32 == endpoint) {
                count++;
            }
        }
        return count;
    }

    /** How many operations concern a region. */
    public int inFlightOfRegion(int region) {
        int count = 0;
        for (int slot = 0; inFlight() > 0 && slot < slots; slot++) {
            long owner = records[slot * FIELDS + 1];
            int first = (int) owner;
            if (owner > 0 && (first == region || first < 0 && concerns(slot, first & Integer.MAX_VALUE, region))) {
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
        long[] released = new long[inFlight()];
        int count = 0;
        for (int slot = 0; slot < slots; slot++) {
            long owner = records[slot * FIELDS + 1];
            if (owner > 0 && (owner & ~SILENT) >>> 32 == endpoint) {
                released[count++] = token(slot);
                release(slot);
            }
        }
        return Arrays.copyOf(released, count);
    }
}
