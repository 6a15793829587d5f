package io.ofi4j.netty;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.util.RegisteredPool;
import java.util.function.Supplier;

/**
 * Buffers for the channels of a loop. Long direct ones are in registered memory, as long as there is some, and are sent
 * without a copy; the others are Netty's. Any thread may call it.
 */
final class LoopAllocator extends AbstractByteBufAllocator {
    /** A shorter buffer is copied in less time than it takes to send it by itself. */
    static final int SHORTEST = 8 << 10;

    private final Supplier<MemoryRegion> memory;
    private final Thread owner;
    /** Null until the loop's thread has needed a long buffer. */
    private volatile RegisteredPool pool;

    /**
     * @param memory registers the memory; the owner calls it
     * @param owner the loop's thread
     */
    LoopAllocator(Supplier<MemoryRegion> memory, Thread owner) {
        super(true);
        this.memory = memory;
        this.owner = owner;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return ByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        ByteBuf registered = initialCapacity < SHORTEST ? null : registered(initialCapacity, maxCapacity);
        return registered == null ? ByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity) : registered;
    }

    /** {@return a buffer in registered memory, or null if there is no room, or the loop has ended} */
    private ByteBuf registered(int initialCapacity, int maxCapacity) {
        try {
            if (pool == null && Thread.currentThread() == owner) { pool = new RegisteredPool(memory.get(), SHORTEST); }
            RegisteredPool open = pool;
            if (open == null || initialCapacity > open.largest()) { return null; }
            long place = open.take(initialCapacity);
            if (place == RegisteredPool.NONE) { return null; }
            return toLeakAwareBuffer(
                    LoopBuffer.of(this, open.region(), place, initialCapacity, maxCapacity, open::give, place).clear());
        } catch (IllegalStateException | FabricException | OutOfMemoryError e) {
            return null; // its memory is closed, or there is none
        }
    }

    /** {@return a buffer of memory that is not the pool's} */
    ByteBuf track(LoopBuffer buffer) {
        return toLeakAwareBuffer(buffer);
    }

    @Override
    public boolean isDirectBufferPooled() { return true; }
}
