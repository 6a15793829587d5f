package io.ofi4j.command.powerfail;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * How a file is laid out: slots that are written in turn. All longs of a slot have the number of the last write to it.
 */
final class SlotFile {
    static final int SLOTS = 1024;
    static final int SLOT = 512;
    static final int LENGTH = SLOTS * SLOT;

    private SlotFile() {}

    static long offsetOf(long write) { return write % SLOTS * SLOT; }

    static void fill(MemorySegment bytes, long write) {
        long begin = offsetOf(write);
        for (long at = begin; at < begin + SLOT; at += Long.BYTES) {
            bytes.set(JAVA_LONG, at, write);
        }
    }

    /** Whether every byte of a write is there, or of later ones to the same slot. */
    static boolean has(MemorySegment bytes, long write) {
        long begin = offsetOf(write);
        if (bytes.byteSize() < begin + SLOT) { return false; }
        for (long at = begin; at < begin + SLOT; at += Long.BYTES) {
            long found = bytes.get(JAVA_LONG, at);
            if (found < write || found % SLOTS != write % SLOTS) { return false; }
        }
        return true;
    }
}
