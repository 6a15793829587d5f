package io.ofi4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.ofi4j.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;

/**
 * A buffer in registered memory of a loop, whose channels send it without a copy. The memory outlives the loop: it is
 * that of the garbage collector, which the buffer keeps reachable. Any thread may release it.
 */
final class LoopBuffer extends UnpooledDirectByteBuf {
    private final MemoryRegion region;
    private final long offset;
    private final long address;
    private final LongConsumer home;
    private final long place;
    private boolean hasLeft;
    /** How many sends of it are on their way, each of which retains it; used by the loop's thread. */
    private int sends;

    private LoopBuffer(ByteBufAllocator allocator, ByteBuffer bytes, int maxCapacity, MemoryRegion region, long offset,
            LongConsumer home, long place) {
        super(allocator, bytes, maxCapacity);
        this.region = region;
        this.offset = offset;
        this.address = region.segment().address() + offset;
        this.home = home;
        this.place = place;
    }

    /**
     * {@return bytes of a region as a buffer that is full}
     *
     * @param home takes the place back when nobody needs the memory any more; any thread may call it
     */
    static LoopBuffer of(ByteBufAllocator allocator, MemoryRegion region, long offset, int length, int maxCapacity,
            LongConsumer home, long place) {
        ByteBuffer bytes = region.segment().asSlice(offset, length).asByteBuffer();
        return new LoopBuffer(allocator, bytes, maxCapacity, region, offset, home, place);
    }

    /**
     * {@return what a channel is about to write and nobody else has, or null} Nobody can change it then while it is on
     * its way. Its slices share its count of references.
     */
    static LoopBuffer soleOwned(ByteBuf written) {
        ByteBuf root = written;
        for (ByteBuf next = root.unwrap(); next != null; next = root.unwrap()) {
            root = next;
        }
        return root instanceof LoopBuffer own && !own.hasLeft && own.refCnt() == 1 + own.sends && own.isHeldBy(written)
                ? own
                : null;
    }

    /** Whether that keeps this: an Unpooled.unreleasableBuffer does not, and the program goes on using its bytes. */
    private boolean isHeldBy(ByteBuf written) {
        int count = refCnt();
        written.retain();
        boolean isHeld = refCnt() > count;
        written.release();
        return isHeld;
    }

    MemoryRegion region() { return region; }

    /** {@return where the next bytes of a buffer or slice of this are in the region} */
    long offsetOf(ByteBuf written) {
        return offset + written.memoryAddress() + written.readerIndex() - address;
    }

    void sends(ByteBuf written) {
        written.retain();
        sends++;
    }

    void sent(ByteBuf written) {
        sends--;
        written.release();
    }

    @Override
    public boolean hasMemoryAddress() { return !hasLeft; }

    @Override
    public long memoryAddress() {
        if (hasLeft) { throw new UnsupportedOperationException("the buffer has grown out of the memory of its loop"); }
        return address;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        if (newCapacity != capacity()) {
            super.capacity(newCapacity); // has other memory now
            leave();
        }
        return this;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        leave();
    }

    private void leave() {
        if (hasLeft) { return; }
        hasLeft = true;
        home.accept(place);
    }
}
