package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointStatistics.Latencies;

/**
 * How often operations of an endpoint took how long, to a thirty-second part. Allocates nothing once it is made. Not
 * thread-safe: the queue's guard serialises it.
 */
public final class LatencyCounts {
    /** Each power of two is divided into so many parts, as a power of two. */
    private static final int PARTS_SHIFT = 5;
    private static final int PARTS = 1 << PARTS_SHIFT;
    /** 2 to the power of 40 nanoseconds are 18 minutes; what takes longer is counted there. */
    private static final int LARGEST_SHIFT = 40;

    private final long[] counts = new long[(LARGEST_SHIFT - PARTS_SHIFT + 1) * PARTS];
    private long count;
    private long sum;
    private long least = Long.MAX_VALUE;
    private long most;

    void add(long nanos) {
        counts[index(Math.clamp(nanos, 0, (1L << LARGEST_SHIFT) - 1))]++;
        count++;
        sum += nanos;
        least = Math.min(least, nanos);
        most = Math.max(most, nanos);
    }

    /** Below {@link #PARTS}, the number itself; else the power of two and its part. */
    private static int index(long nanos) {
        int shift = Math.max(0, Long.SIZE - 1 - PARTS_SHIFT - Long.numberOfLeadingZeros(nanos));
        return shift * PARTS + (int) (nanos >>> shift);
    }

    /** The largest number of an index. */
    private static long largest(int index) {
        int shift = Math.max(0, index / PARTS - 1);
        return (index - (long) shift * PARTS + 1 << shift) - 1;
    }

    /** What was counted; null stands for nothing. */
    public static Latencies latencies(LatencyCounts counts) {
        return counts == null
                ? Latencies.NONE
                : new Latencies(counts.count, counts.least(), counts.mean(), counts.percentile(50),
                        counts.percentile(90), counts.percentile(99), counts.percentile(99.9), counts.most);
    }

    public long count() { return count; }

    public long least() { return count == 0 ? 0 : least; }

    public long most() { return most; }

    public double mean() { return count == 0 ? 0 : (double) sum / count; }

    /** What so many percent of the operations did not exceed; 0 if there are none. */
    public long percentile(double percent) {
        long wanted = (long) Math.ceil(percent / 100 * count);
        long seen = 0;
        for (int index = 0; index < counts.length && count > 0; index++) {
            seen += counts[index];
            if (seen >= wanted) { return Math.min(largest(index), most); }
        }
        return most;
    }
}
