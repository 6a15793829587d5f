package io.ofi4j.command.soak;

import java.util.Arrays;
import java.util.Random;

/**
 * The places of the target's memory that operations go to, each with at most one at a time, and what their bytes must
 * be. Between them are guard bytes that nothing may change.
 */
final class Slots {
    /** Bytes before and after each slot. */
    static final int GUARD = 64;
    /** What guard bytes are. */
    static final byte GUARD_BYTE = (byte) 0xa5;

    private static final int[] SIZES = {8, 64, 200, 512, 1000, 2048, 4096, 4097, 8192, 16384, 16385, 40000, 65536,
            65537, 300_000, 1 << 20};

    /** What is known of a slot's bytes. */
    enum State {
        /** As expected, seen by a read. */
        SETTLED,
        /** Written; a read has to see it. */
        WRITTEN,
        /** An operation is in flight. */
        BUSY
    }

    private final int[] sizes;
    private final State[] states;
    private final int[] offsets;
    private final byte[] expected;

    /** Those that would be larger are so large. */
    Slots(int largest) {
        sizes = Arrays.stream(SIZES).map(size -> Math.min(size, largest)).toArray();
        states = new State[sizes.length];
        offsets = new int[sizes.length];
        int offset = GUARD;
        for (int slot = 0; slot < sizes.length; slot++) {
            states[slot] = State.SETTLED;
            offsets[slot] = offset;
            offset += sizes[slot] + 2 * GUARD; // of each, so that a read of one leaves the other's alone
        }
        expected = new byte[offset - GUARD];
        Arrays.fill(expected, GUARD_BYTE);
    }

    int count() { return sizes.length; }

    int length() { return expected.length; }

    int offset(int slot) { return offsets[slot]; }

    int size(int slot) { return sizes[slot]; }

    State state(int slot) { return states[slot]; }

    void state(int slot, State state) { states[slot] = state; }

    /** What all bytes must be, once nothing is in flight. */
    byte[] expected() { return expected; }

    /** Changes what some bytes must be to random ones. */
    void change(Random random, int at, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        System.arraycopy(bytes, 0, expected, at, length);
    }
}
