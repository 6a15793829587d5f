package io.ofi4j.job;

import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;

/**
 * Passes blocks on from rank to rank, in a ring, with a block for each rank. A block is cut into segments, which go on
 * while others arrive. Segments are numbered in the order in which they are sent and received.
 */
final class Ring {
    private final GroupMessages messages;
    private final Slice data;
    /** The bytes of the block that this rank sends first, if they are not in the blocks yet; otherwise null. */
    private final Slice own;
    private final int element;
    private final int rank;
    private final int size;
    /** The block that this rank sends first. It gets the one before it then, and sends that in the next step. */
    private final int first;
    private final long segmentLength;
    private final long segmentsOfBlock;

    /**
     * @param data the blocks of all ranks, whose lengths differ by one element at most
     * @param element the length of an element, which is not cut
     */
    Ring(GroupMessages messages, Slice data, int element, int rank, int size, int first) {
        this(messages, data, element, rank, size, first, null);
    }

    /** @param own the bytes of the block that this rank sends first, or null if they are in the blocks already */
    Ring(GroupMessages messages, Slice data, int element, int rank, int size, int first, Slice own) {
        this.messages = messages;
        this.data = data;
        this.element = element;
        this.rank = rank;
        this.size = size;
        this.first = first;
        this.own = own;
        long longest = Math.ceilDiv(data.length() / element, size) * element;
        this.segmentLength = messages.segmentLength(element, longest);
        this.segmentsOfBlock = Math.ceilDiv(longest, segmentLength);
    }

    /**
     * Moves the blocks so many steps on, and waits until all that this rank has sent and gets is there. Own bytes from
     * elsewhere are put into their block while others arrive: sent from there, they would have to be fetched from the
     * cache of the processor that has just written them.
     *
     * @param combining in so many steps, what arrives is combined with this rank's elements. Then it replaces them
     * @param reduction combines them; ignored if no step combines
     */
    void pass(int steps, int combining, Reduction reduction) {
        long all = steps * segmentsOfBlock;
        long combined = combining * segmentsOfBlock;
        for (long at = 0; at < Math.min(GroupMessages.SLOTS, all); at++) {
            receive(at, combined);
        }
        for (long at = 0; at < Math.min(Math.min(GroupMessages.SLOTS, segmentsOfBlock), all); at++) {
            send(at);
        }
        if (own != null) { data.segment().asSlice(start(first), own.length()).copyFrom(own.segment()); }
        for (long at = 0; at < all; at++) {
            take(at, combined, reduction);
            if (at + GroupMessages.SLOTS < all) { receive(at + GroupMessages.SLOTS, combined); }
            if (at + GroupMessages.SLOTS < segmentsOfBlock) { send(at + GroupMessages.SLOTS); }
            if (at + segmentsOfBlock < all) { send(at + segmentsOfBlock); }
        }
        messages.await();
    }

    private void send(long at) {
        int block = Math.floorMod(first - at / segmentsOfBlock, size);
        long length = length(at, block);
        if (length == 0) { return; }
        int to = (rank + 1) % size;
        if (own != null && at < segmentsOfBlock) {
            messages.send(to, at, own.region(), own.offset() + at * segmentLength, length);
        } else {
            messages.send(to, at, data.region(), data.offset() + offset(at, block), length);
        }
    }

    private void receive(long at, long combined) {
        int block = blockOfReceive(at);
        long length = length(at, block);
        if (length == 0) { return; }
        int slot = GroupMessages.slot(at);
        boolean isCombined = at < combined;
        MemoryRegion region = isCombined ? messages.slots(combined, segmentLength) : data.region();
        long offset = isCombined ? slot * segmentLength : data.offset() + offset(at, block);
        messages.receiveInSlot(slot, Math.floorMod(rank - 1, size), at, region, offset, length);
    }

    private void take(long at, long combined, Reduction reduction) {
        int block = blockOfReceive(at);
        long length = length(at, block);
        if (length == 0) { return; }
        int slot = GroupMessages.slot(at);
        messages.awaitSlot(slot);
        if (at < combined) {
            messages.combine(reduction, data.segment().asSlice(offset(at, block), length),
                    messages.slots(combined, segmentLength).segment().asSlice(slot * segmentLength, length));
        }
    }

    private int blockOfReceive(long at) { return Math.floorMod(first - at / segmentsOfBlock - 1, size); }

    private long start(long block) { return data.length() / element * block / size * element; }

    private long offset(long at, int block) { return start(block) + at % segmentsOfBlock * segmentLength; }

    private long length(long at, int block) {
        return Math.clamp(start(block + 1L) - offset(at, block), 0, segmentLength);
    }
}
