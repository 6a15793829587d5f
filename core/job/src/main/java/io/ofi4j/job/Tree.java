package io.ofi4j.job;

import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;

/**
 * A binomial tree of all ranks, along which elements go down from a root or are combined on their way up to it. They
 * are cut into segments, which go on while others arrive.
 */
final class Tree {
    private final GroupMessages messages;
    private final Slice data;
    private final long segmentLength;
    private final long segments;
    private final int rank;
    private final int size;
    private final boolean isRoot;
    /** The rank above this one; nobody above the root. */
    private final int parent;
    /** Child k is 2 to the power of k ranks behind this one, and has as many in its subtree, or fewer at the end. */
    private final int children;

    /** @param element the length of an element, which is not cut */
    Tree(GroupMessages messages, Slice data, int element, int rank, int size, int root) {
        this.messages = messages;
        this.data = data;
        this.segmentLength = messages.segmentLength(element, data.length());
        this.segments = Math.ceilDiv(data.length(), segmentLength);
        this.rank = rank;
        this.size = size;
        int behindRoot = Math.floorMod(rank - root, size);
        this.isRoot = behindRoot == 0;
        int distance = Integer.lowestOneBit(behindRoot);
        int subtree = isRoot ? size : Math.min(distance, size - behindRoot);
        this.parent = Math.floorMod(rank - distance, size);
        this.children = Integer.SIZE - Integer.numberOfLeadingZeros(subtree - 1);
    }

    private int child(int number) { return (int) ((rank + (1L << number)) % size); }

    /** Sends the bytes of the root to all. */
    void spread() {
        for (long at = 0; !isRoot && at < Math.min(GroupMessages.SLOTS, segments); at++) {
            receiveFromParent(at);
        }
        for (long at = 0; at < segments; at++) {
            if (!isRoot) {
                messages.awaitSlot(GroupMessages.slot(at));
                if (at + GroupMessages.SLOTS < segments) { receiveFromParent(at + GroupMessages.SLOTS); }
            }
            for (int number = children - 1; number >= 0; number--) { // the longest way first
                messages.send(child(number), at, data.region(), data.offset() + offset(at), length(at));
            }
            if (isRoot) { messages.awaitAtMost(GroupMessages.SLOTS * children); }
        }
        messages.await();
    }

    private void receiveFromParent(long at) {
        messages.receiveInSlot(GroupMessages.slot(at), parent, at, data.region(), data.offset() + offset(at),
                length(at));
    }

    /** Combines the elements of all at the root. */
    void combine(Reduction reduction) {
        long all = segments * children;
        for (long at = 0; at < Math.min(GroupMessages.SLOTS, all); at++) {
            receiveFromChild(at);
        }
        for (long at = 0; at < all; at++) {
            int slot = GroupMessages.slot(at);
            long segment = at / children;
            messages.awaitSlot(slot);
            messages.combine(reduction, data.segment().asSlice(offset(segment), length(segment)),
                    slots().segment().asSlice(slot * segmentLength, length(segment)));
            if (at + GroupMessages.SLOTS < all) { receiveFromChild(at + GroupMessages.SLOTS); }
            if (!isRoot && at % children == children - 1) { sendToParent(segment); }
        }
        for (long segment = 0; children == 0 && !isRoot && segment < segments; segment++) {
            sendToParent(segment);
            messages.awaitAtMost(GroupMessages.SLOTS);
        }
        messages.await();
    }

    /** The children follow each other within a segment. The smallest subtree, which is ready first, comes first. */
    private void receiveFromChild(long at) {
        long segment = at / children;
        int slot = GroupMessages.slot(at);
        messages.receiveInSlot(slot, child((int) (at % children)), segment, slots(), slot * segmentLength,
                length(segment));
    }

    private MemoryRegion slots() { return messages.slots(segments * children, segmentLength); }

    private void sendToParent(long segment) {
        messages.send(parent, segment, data.region(), data.offset() + offset(segment), length(segment));
    }

    private long offset(long segment) { return segment * segmentLength; }

    private long length(long segment) { return Math.min(segmentLength, data.length() - offset(segment)); }
}
