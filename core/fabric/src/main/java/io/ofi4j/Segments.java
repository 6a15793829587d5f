package io.ofi4j;

import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.SegmentVector;
import java.util.Objects;

/**
 * One list of a prepared operation's segments, local or remote, counted in bytes or elements. The caller checks the
 * bounds of a segment before it adds it.
 */
final class Segments {
    /** The regions of the segments; null in a list of remote segments. */
    final MemoryRegion[] regions;
    /** The numbers of the regions after the first, for the queue. */
    final int[] extraRegions;
    int count;
    /** The region of a list of one local segment, which most are; otherwise null. */
    MemoryRegion only;
    /** The number of the first local segment's region, for the queue; 0 if there is none. */
    int firstRegion;
    /** The bytes or elements of all segments. */
    long amount;
    /** The access flags that all regions have. */
    long rights;

    private final PostPath path;
    final String word;
    private final SegmentVector vector;
    private final long[] rightsOfEach;

    /**
     * @param word a word for error messages, followed by a blank, or an empty string
     */
    private Segments(PostPath path, String word, SegmentVector vector, boolean isLocal) {
        this.path = path;
        this.word = word;
        this.vector = vector;
        this.regions = isLocal ? new MemoryRegion[limit()] : null;
        this.extraRegions = isLocal ? new int[limit()] : null;
        this.rightsOfEach = new long[limit()];
        clear();
    }

    static Segments local(PostPath path, String word, SegmentVector vector) {
        return new Segments(path, word, vector, true);
    }

    static Segments remote(PostPath path, SegmentVector vector) { return new Segments(path, "remote ", vector, false); }

    int limit() { return vector.limit(); }

    void clear() {
        count = 0;
        only = null;
        firstRegion = 0;
        vector.count(0);
        amount = 0;
        rights = Access.ALL;
    }

    void add(MemoryRegion region, long offset, long segmentAmount) {
        requireRoom();
        set(count, region, offset, segmentAmount);
        added(segmentAmount);
        findOnly();
    }

    void add(RemoteRegion region, long offset, long segmentAmount) {
        requireRoom();
        set(count, region, offset, segmentAmount);
        added(segmentAmount);
    }

    void replace(int index, MemoryRegion region, long offset, long segmentAmount) {
        set(Objects.checkIndex(index, count), region, offset, segmentAmount);
        recount();
        findOnly();
    }

    void replace(int index, RemoteRegion region, long offset, long segmentAmount) {
        set(Objects.checkIndex(index, count), region, offset, segmentAmount);
        recount();
    }

    private void findOnly() { only = count == 1 ? regions[0] : null; }

    private void set(int index, MemoryRegion region, long offset, long segmentAmount) {
        path.requireDomain(region);
        vector.set(index, region.address + offset, segmentAmount, region.descriptor);
        regions[index] = region;
        rightsOfEach[index] = region.accessBits;
        if (index > 0) {
            extraRegions[index - 1] = region.number;
        } else {
            firstRegion = region.number;
        }
    }

    private void set(int index, RemoteRegion region, long offset, long segmentAmount) {
        vector.set(index, region.base() + offset, segmentAmount, region.key());
        rightsOfEach[index] = region.accessBits();
    }

    private void added(long segmentAmount) {
        amount = sum(amount, segmentAmount);
        rights &= rightsOfEach[count];
        vector.count(++count);
    }

    private void recount() {
        amount = 0;
        rights = Access.ALL;
        for (int i = 0; i < count; i++) {
            amount = sum(amount, vector.amount(i));
            rights &= rightsOfEach[i];
        }
    }

    /** {@return the sum, which saturates} A sum that wrapped around could equal that of the other side. */
    private static long sum(long amount, long more) {
        return amount > Long.MAX_VALUE - more ? Long.MAX_VALUE : amount + more;
    }

    private void requireRoom() {
        if (count == limit()) {
            throw new IllegalArgumentException("provider " + path.provider + " takes at most " + limit() + " " + word
                    + "segments per operation: post several operations");
        }
    }

    void requireRights(long right) {
        if ((rights & right) == 0) {
            throw new IllegalArgumentException("a " + word + "segment's region lacks " + Access.setOf(right));
        }
    }

    /** Tells the queue the regions of an operation after the first. */
    void addExtraRegions(ContextSlab contexts, long context) {
        if (count > 1) { contexts.addExtraRegions(context, extraRegions, count - 1); }
    }
}
