package io.ofi4j.jmh.compare;

/**
 * Operations between which a program works with its own data, which then has the caches; line for line what
 * {@code cold.c} does.
 */
final class Cold {
    private static final int LINE = 64;

    private long[] memory = {};

    /** Does so many operations of a size, one after the other. */
    interface Each {
        void run(long size, long count);
    }

    /** Reads and writes each cache line, as a program does with its own data. */
    private static void walk(long[] memory, int length) {
        for (int at = 0; at < length; at += LINE / Long.BYTES) {
            memory[at]++;
        }
    }

    /**
     * Runs so many operations, and walks so many bytes of other memory before each; how many nanoseconds the operations
     * took, without the walks.
     */
    long run(Each each, long size, int walked, long count, Runnable progress) {
        int length = walked / Long.BYTES;
        if (length > memory.length) { memory = new long[length]; }
        long time = 0;
        for (long done = 0; done < count; done++) {
            walk(memory, length);
            long start = System.nanoTime();
            each.run(size, 1);
            long end = System.nanoTime();
            progress.run();
            walk(memory, length);
            long empty = System.nanoTime(); // what two looks at the clock take
            empty = System.nanoTime() - empty;
            if (empty < end - start) { // unless this thread lost its processor between the two
                time += end - start - empty;
            }
        }
        return time;
    }
}
