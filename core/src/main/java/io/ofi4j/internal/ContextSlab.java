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

    private final long base;
    private final long[] tokens;
    /** Endpoint number in the upper half, region number in the lower; 0 while the slot is free. */
    private final long[] owners;
    private final int[] free;
    private int freeCount;

    /**
     * @param memory where the slab comes from; it must live until no provider can write to it
     * @param slots how many operations can be in flight
     */
    public ContextSlab(Arena memory, int slots) {
        this.base = memory.allocate(slots * SLOT_SIZE, SLOT_SIZE).address();
        this.tokens = new long[slots];
        this.owners = new long[slots];
        this.free = new int[slots];
        for (int i = 0; i < slots; i++) {
            free[i] = slots - 1 - i; // the lowest slots go first, so that few operations touch few cache lines
        }
        this.freeCount = slots;
    }

    /** Takes a slot, or returns -1 where none is free. Numbers of endpoints and regions begin at 1. */
    public int acquire(long token, int endpoint, int region) {
        int count = freeCount;
        if (count == 0) {
            return -1;
        }
        int slot = free[count - 1];
        freeCount = count - 1;
        tokens[slot] = token;
        owners[slot] = (long) endpoint << 32 | region; // both are positive
        return slot;
    }

    public void release(int slot) {
        owners[slot] = 0;
        free[freeCount++] = slot;
    }

    /** The op_context of a slot. */
    public long context(int slot) {
        return base + ((long) slot << SLOT_SHIFT);
    }

    /** The slot in flight behind an op_context, or -1 if it is none of ours. */
    public int slotOf(long context) {
        long offset = context - base;
        if (offset < 0 || offset >= (long) tokens.length << SLOT_SHIFT) {
            return -1;
        }
        int slot = (int) (offset >>> SLOT_SHIFT);
        return owners[slot] == 0 ? -1 : slot;
    }

    public long token(int slot) {
        return tokens[slot];
    }

    public int inFlight() {
        return tokens.length - freeCount;
    }

    public int capacity() {
        return tokens.length;
    }

    /** How many operations concern a region. */
    public int inFlightOfRegion(int region) {
        return inFlight() == 0 ? 0 : (int) Arrays.stream(owners).filter(owner -> (int) owner == region).count();
    }

    /** Frees the slots of an endpoint that is gone; their tokens. */
    public long[] releaseEndpoint(int endpoint) {
        long[] released = new long[inFlight()];
        int count = 0;
        for (int slot = 0; slot < owners.length; slot++) {
            if (owners[slot] >>> 32 == endpoint) {
                released[count++] = tokens[slot];
                release(slot);
            }
        }
        return Arrays.copyOf(released, count);
    }
}
