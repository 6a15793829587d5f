package io.ofi4j.command.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * Random bytes, the same in every process, of which each seed takes other ones; and a place to fetch a device's bytes
 * to.
 */
final class Contents {
    private static final int SEEDS = 1024;

    private final MemorySegment random;
    private final MemorySegment fetched;

    Contents(long longest) {
        random = Arena.global().allocate(longest + SEEDS * Long.BYTES, Long.BYTES);
        fetched = Arena.global().allocate(longest, Long.BYTES);
        SplittableRandom numbers = new SplittableRandom(39);
        for (long at = 0; at < random.byteSize(); at += Long.BYTES) {
            random.set(ValueLayout.JAVA_LONG, at, numbers.nextLong());
        }
    }

    MemorySegment of(int seed, long length) {
        return random.asSlice((long) Math.floorMod(seed, SEEDS) * Long.BYTES, length);
    }

    /** {@return where the first byte differs, or -1} */
    long mismatch(DeviceMemory device, long address, long length, int seed) {
        MemorySegment part = fetched.asSlice(0, length);
        device.get(part, address);
        return mismatch(part, seed);
    }

    long mismatch(MemorySegment found, int seed) { return found.mismatch(of(seed, found.byteSize())); }
}
