package io.ofi4j.job;

import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import java.util.stream.IntStream;

/**
 * A binomial tree of all ranks, along which elements go down from a root or are combined on their way up to it. They
 * are cut into segments, which go on while others arrive.
 */
final class Tree {
    private final GroupMessages messages;
    private final Slice data;
    private final long segmentLength;
    private final long segments;
    /** The rank above this one, or -1 at the root. */
    private final int parent;
    /** The ranks below this one: the one with the most ranks below it comes first. */
    private final int[] children;

    /** @param element the length of an element, which is not cut */
    Tree(GroupMessages messages, Slice data, int element, int rank, int size, int root) {
        this.messages = messages;
        this.data = data;
        this.segmentLength = GroupMessages.segmentLength(element);
        this.segments = Math.ceilDiv(data.length(), segmentLength);
        int virtual = Math.floorMod(rank - root, size);
        int above = virtual == 0 ? Integer.highestOneBit(size - 1) * 2 : Integer.lowestOneBit(virtual);
        this.parent = virtual == 0 ? -1 : (virtual - above + root) % size;
        this.children = IntStream.iterate(above / 2, bit -> bit > 0, bit -> bit / 2).filter(bit -> virtual + bit < size)
                .map(bit -> (virtual + bit + root) % size).toArray();
    }

    /** Sends the bytes of the root to all. */
    void spread() {
        for (long at = 0; parent >= 0 && at < Math.min(GroupMessages.SLOTS, segments); at++) {
            receiveFromParent(at);
        }
        for (long at = 0; at < segments; at++) {
            if (parent >= 0) {
                messages.awaitSlot(GroupMessages.slot(at));
                if (at + GroupMessages.SLOTS < segments) { receiveFromParent(at + GroupMessages.SLOTS); }
            }
            for (int child : children) {
                messages.send(child, at, data.region(), data.offset() + offset(at), length(at));
            }
            if (parent < 0) { messages.awaitAtMost(GroupMessages.SLOTS * children.length); }
        }
        messages.await();
    }

    private void receiveFromParent(long at) {
        messages.receiveInSlot(GroupMessages.slot(at), parent, at, data.region(), data.offset() + offset(at),
                length(at));
    }

    /** Combines the elements of all at the root. */
    void combine(Reduction reduction) {
        long all = segments * children.length;
        for (long at = 0; at < Math.min(GroupMessages.SLOTS, all); at++) {
            receiveFromChild(at);
        }
        for (long at = 0; at < all; at++) {
            int slot = GroupMessages.slot(at);
            long segment = at / children.length;
            messages.awaitSlot(slot);
            reduction.combination().combine(data.segment().asSlice(offset(segment), length(segment)),
                    slots().segment().asSlice(slot * segmentLength, length(segment)));
            if (at + GroupMessages.SLOTS < all) { receiveFromChild(at + GroupMessages.SLOTS); }
            if (parent >= 0 && at % children.length == children.length - 1) { sendToParent(segment); }
        }
        for (long segment = 0; children.length == 0 && parent >= 0 && segment < segments; segment++) {
            sendToParent(segment);
            messages.awaitAtMost(GroupMessages.SLOTS);
        }
        messages.await();
    }

    /** The children follow each other within a segment. The smallest subtree, which is ready first, comes first. */
    private void receiveFromChild(long at) {
        long segment = at / children.length;
        int slot = GroupMessages.slot(at);
        messages.receiveInSlot(slot, children[children.length - 1 - (int) (at % children.length)], segment, slots(),
                slot * segmentLength, length(segment));
    }

    private MemoryRegion slots() { return messages.slots(segments * children.length, segmentLength); }

    private void sendToParent(long segment) {
        messages.send(parent, segment, data.region(), data.offset() + offset(segment), length(segment));
    }

    private long offset(long segment) { return segment * segmentLength; }

    private long length(long segment) { return Math.min(segmentLength, data.length() - offset(segment)); }
}
