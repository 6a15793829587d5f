package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointStatistics.Latencies;

/**
 * A histogram of the times that operations of an endpoint took, with a resolution of one in 32. Allocates nothing once
 * it is made. Not thread-safe: the queue's guard serialises it.
 */
public final class LatencyHistogram {
    /** The base-2 logarithm of {@link #PARTS}: the number of parts that each power of two is divided into. */
    private static final int PARTS_SHIFT = 5;
    private static final int PARTS = 1 << PARTS_SHIFT;
    /** 2 to the power of 40 nanoseconds are 18 minutes; what takes longer is counted there. */
    private static final int MAX_SHIFT = 40;

    private final long[] counts = new long[(MAX_SHIFT - PARTS_SHIFT + 1) * PARTS];
    private long count;
    private long sum;
    private long min = Long.MAX_VALUE;
    private long max;

    void add(long nanos) {
        counts[index(Math.clamp(nanos, 0, (1L << MAX_SHIFT) - 1))]++;
        count++;
        sum += nanos;
        min = Math.min(min, nanos);
        max = Math.max(max, nanos);
    }

    /** Below {@link #PARTS}, the number itself; else the power of two and its part. */
    private static int index(long nanos) {
        int shift = Math.max(0, Long.SIZE - 1 - PARTS_SHIFT - Long.numberOfLeadingZeros(nanos));
        return shift * PARTS + (int) (nanos >>> shift);
    }

    /** The largest number that an index stands for. */
    private static long upperBound(int index) {
        int shift = Math.max(0, index / PARTS - 1);
        return (index - (long) shift * PARTS + 1 << shift) - 1;
    }

    /** The latencies that a histogram has counted; null stands for an empty one. */
    public static Latencies latencies(LatencyHistogram counts) {
        return counts == null
                ? Latencies.NONE
                : new Latencies(counts.count, counts.min(), counts.mean(), counts.percentile(50), counts.percentile(90),
                        counts.percentile(99), counts.percentile(99.9), counts.max);
    }

    public long count() { return count; }

    public long min() { return count == 0 ? 0 : min; }

    public long max() { return max; }

    public double mean() { return count == 0 ? 0 : (double) sum / count; }

    /** The time that this percentage of the operations did not exceed, in nanoseconds; 0 if there are none. */
    public long percentile(double percent) {
        long wanted = (long) Math.ceil(percent / 100 * count);
        long seen = 0;
        for (int index = 0; index < counts.length && count > 0; index++) {
            seen += counts[index];
            if (seen >= wanted) { return Math.min(upperBound(index), max); }
        }
        return max;
    }
}
