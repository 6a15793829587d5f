package io.ofi4j.internal;

/** The queue of commands in the memory of an shm endpoint of libfabric 1.17: a ring of a power of two; used with the lock held. */
final class ShmCommands {
    private static final int SIZE_AT = 0;
    private static final int MASK_AT = 8;
    private static final int TAKEN_AT = 16;
    private static final int PUT_AT = 24;
    private static final int RING_AT = 32;
    private static final int COMMAND = 256;
    private static final int OPERATION_AT = 16;
    private static final int MOST = 1 << 20;
    /** Reads, writes and the three kinds of atomics come as two commands: what, and where to. */
    private static final long OF_TWO = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8;

    private final long address;

    ShmCommands(long address) {
        this.address = address;
    }

    /** Takes the first of two commands out again where the second is missing; false where the queue is none. */
    boolean dropHalf() {
        long taken = NativeWords.get(address, TAKEN_AT);
        long put = NativeWords.get(address, PUT_AT);
        long size = NativeWords.get(address, SIZE_AT);
        boolean isQueue = Long.bitCount(size) == 1 && size <= MOST && NativeWords.get(address, MASK_AT) == size - 1
                && put - taken >= 0 && put - taken <= size;
        long at = taken;
        while (isQueue && at < put) {
            int operation = (int) NativeWords.get(address, RING_AT + (at & size - 1) * COMMAND + OPERATION_AT);
            at += operation < Long.SIZE && (OF_TWO >>> operation & 1) != 0 ? 2 : 1;
        }
        if (isQueue && at > put) {
            NativeWords.set(address, PUT_AT, put - 1);
        }
        return isQueue;
    }
}
