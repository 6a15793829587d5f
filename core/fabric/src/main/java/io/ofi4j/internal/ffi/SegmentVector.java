package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_rma_iov;
import io.ofi4j.bindings.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The segments of a prepared operation. Local ones are an array of {@code struct iovec} or {@code struct fi_ioc}, with
 * their descriptors in another; remote ones of {@code struct fi_rma_iov} or {@code struct fi_rma_ioc}, which has the
 * key. All begin with an address and a number, of bytes or elements.
 */
public final class SegmentVector {
    private static final long AMOUNT = iovec.iov_len$offset();

    final MemorySegment segments;
    /** The array of the descriptors; for remote segments, that of the keys, which are fields of the segments. */
    final MemorySegment descriptors;
    /** The addresses of both, which live as long as this object. */
    final long segmentsAddress;
    final long descriptorsAddress;
    /** The first segment once more, for calls that take it as arguments: a field takes less than a segment's bytes. */
    long firstAddress;
    long firstDescriptor;
    /** The number of segments that the operation uses. */
    long count;
    private final int limit;

    private final long size;
    private final long descriptorStride;

    private SegmentVector(int limit, MemorySegment segments, long size, MemorySegment descriptors,
            long descriptorStride) {
        this.limit = limit;
        this.segments = segments;
        this.size = size;
        this.descriptors = descriptors;
        this.segmentsAddress = segments.address();
        this.descriptorsAddress = descriptors.address();
        this.descriptorStride = descriptorStride;
    }

    static SegmentVector local(Arena arena, int limit) {
        return new SegmentVector(limit, iovec.allocateArray(limit, arena), iovec.sizeof(),
                arena.allocate(JAVA_LONG, limit), Long.BYTES);
    }

    static SegmentVector remote(Arena arena, int limit) {
        MemorySegment segments = fi_rma_iov.allocateArray(limit, arena);
        return new SegmentVector(limit, segments, fi_rma_iov.sizeof(), segments.asSlice(fi_rma_iov.key$offset()),
                fi_rma_iov.sizeof());
    }

    /** {@return the maximum number of segments} */
    public int limit() { return limit; }

    /** Sets a segment; the last number is its descriptor or key. */
    public void set(int index, long address, long amount, long descriptor) {
        segments.set(JAVA_LONG, index * size, address);
        segments.set(JAVA_LONG, index * size + AMOUNT, amount);
        descriptors.set(JAVA_LONG, index * descriptorStride, descriptor);
        if (index == 0) {
            firstAddress = address;
            firstDescriptor = descriptor;
        }
    }

    public long amount(int index) { return segments.get(JAVA_LONG, index * size + AMOUNT); }

    public void count(int number) { count = number; }
}
