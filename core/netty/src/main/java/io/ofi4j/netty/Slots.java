package io.ofi4j.netty;

import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.FabricException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Registered memory of a loop in slots of one length, which have numbers. It grows by blocks. The loop's thread alone
 * calls it.
 */
final class Slots {
    /** How many slots a block has. */
    static final int BLOCK = 64;
    static final int NONE = -1;

    private final int length;
    private int maxBlocks;
    private final Supplier<MemoryRegion> newBlock;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<ByteBuffer> buffers = new ArrayList<>();
    /** The first {@code free} of them are free. */
    private int[] freeNumbers = {};
    private int free;

    /** @param newBlock registers memory for {@link #BLOCK} slots */
    Slots(int length, int maxBlocks, Supplier<MemoryRegion> newBlock) {
        this.length = length;
        this.maxBlocks = maxBlocks;
        this.newBlock = newBlock;
    }

    /** {@return a slot, or {@link #NONE} if all are taken} */
    int take() {
        if (free == 0 && regions.size() < maxBlocks) { grow(); }
        return free == 0 ? NONE : freeNumbers[--free];
    }

    void give(int number) { freeNumbers[free++] = number; }

    private void grow() {
        MemoryRegion region;
        try {
            region = newBlock.get();
        } catch (FabricException | OutOfMemoryError e) { // there is no more memory: what there is must do
            if (regions.isEmpty()) { throw e; }
            maxBlocks = regions.size();
            return;
        }
        int first = count();
        regions.add(region);
        buffers.add(region.segment().asByteBuffer());
        freeNumbers = Arrays.copyOf(freeNumbers, count());
        for (int number = count() - 1; number >= first; number--) {
            give(number);
        }
    }

    /** {@return how many of them are free} */
    int free() { return free; }

    /** {@return how many slots there are} */
    int count() { return regions.size() * BLOCK; }

    /** {@return the memory in which a slot is, at its {@link #offset}} */
    MemoryRegion region(int number) {
        return regions.get(number / BLOCK);
    }

    /** {@return the same memory} Whoever uses it sets its position and limit. */
    ByteBuffer buffer(int number) {
        return buffers.get(number / BLOCK);
    }

    long offset(int number) { return (long) (number % BLOCK) * length; }
}
