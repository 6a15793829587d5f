package io.ofi4j.jmh.compare;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Exchanges between two processes, by two C workers and by two Java workers in turns.
 *
 * <p>Each begins when the one before has ended, so one that is held up hides those that would have begun meanwhile
 * (coordinated omission). HdrHistogram puts them back: what took longer than the usual time, which is C's median, is
 * recorded with all that would have been begun at that interval and have waited. Both sides are corrected with the same
 * interval.
 */
final class ExchangeDuel {
    private static final Map<String, Double> PERCENTILES = percentiles();
    private static final long SLICE = 50_000_000;
    private static final long SHORT_SLICE = 5_000_000;
    private static final int UNMEASURED = 32;
    private static final int FIRST_COUNT = 200;
    private static final int FEWEST = 50;
    private static final int MOST = 100_000;
    private static final int DIGITS = 3;
    private static final long LONGEST = 60_000_000_000L;
    private static final int SMALL = 8;
    /** Where the answer to "ping" has its first time; before it are the bytes allocated, and the switches. */
    private static final int FIRST_TIME = 3;
    private static final double SECOND = 1e9;

    /** A side's two workers. */
    record Side(Worker ping, Worker pong) {}

    /** One slice: how long each exchange took, and how often the two threads had to wait for others. */
    private record Slice(long[] times, long switches, long allocated) {}

    /** How often, and in how long, the threads of a side had to wait. */
    private static final class Waits {
        private long switches;
        private long nanoseconds;

        void add(Slice slice) {
            switches += slice.switches;
            nanoseconds += Arrays.stream(slice.times).sum();
        }

        double aSecond() { return switches * SECOND / nanoseconds; }
    }

    private final String work;
    private final Side c;
    private final Side java;
    private final Histogram cTimes = new Histogram(LONGEST, DIGITS);
    private final Histogram javaTimes = new Histogram(LONGEST, DIGITS);
    private final Map<String, Pairs> pairs = new LinkedHashMap<>();
    private final Waits cWaits = new Waits();
    private final Waits javaWaits = new Waits();
    private long usual;
    private int count;
    private long allocated;
    private long exchanges;
    private boolean javaFirst;

    ExchangeDuel(String work, Side c, Side java) {
        this.work = work;
        this.c = c;
        this.java = java;
        PERCENTILES.keySet().forEach(name -> pairs.put(name, new Pairs()));
    }

    private static Map<String, Double> percentiles() {
        Map<String, Double> percentiles = new LinkedHashMap<>();
        percentiles.put("p50", 50.0);
        percentiles.put("p99", 99.0);
        percentiles.put("p99.9", 99.9);
        return percentiles;
    }

    /** Finds the usual time, and has the Java side compiled. */
    void warmUp(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        count = FIRST_COUNT;
        exchange(c);
        long[] times = exchange(c).times;
        Arrays.sort(times);
        usual = Math.max(1, times[times.length / 2]);
        count = Math.clamp(SHORT_SLICE / usual, FEWEST, MOST);
        do {
            exchange(java);
        } while (System.nanoTime() - end < 0);
        count = Math.clamp(SLICE / usual, FEWEST, MOST);
    }

    /** Measures for a while, at least once. */
    void round(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        do {
            Slice ofJava = javaFirst ? exchange(java) : null;
            Slice ofC = exchange(c);
            ofJava = javaFirst ? ofJava : exchange(java);
            javaFirst = !javaFirst;
            allocated += ofJava.allocated;
            cWaits.add(ofC);
            javaWaits.add(ofJava);
            record(ofC.times, ofJava.times);
        } while (System.nanoTime() - end < 0);
    }

    private Slice exchange(Side side) {
        side.pong().send("pong " + work + " " + (UNMEASURED + count));
        String[] ofPing = side.ping().ask("ping " + work + " " + UNMEASURED + " " + count);
        String[] ofPong = side.pong().receive();
        long[] times = Arrays.stream(ofPing).skip(FIRST_TIME).mapToLong(Long::parseLong).toArray();
        return new Slice(times, Long.parseLong(ofPing[2]) + Long.parseLong(ofPong[2]), Long.parseLong(ofPing[1]));
    }

    private void record(long[] ofC, long[] ofJava) {
        Histogram cSlice = corrected(ofC);
        Histogram javaSlice = corrected(ofJava);
        cTimes.add(cSlice);
        javaTimes.add(javaSlice);
        exchanges += ofJava.length;
        PERCENTILES.forEach((name, percentile) -> pairs.get(name).add(cSlice.getValueAtPercentile(percentile),
                javaSlice.getValueAtPercentile(percentile)));
    }

    private Histogram corrected(long[] times) {
        Histogram histogram = new Histogram(LONGEST, DIGITS);
        for (long time : times) {
            histogram.recordValueWithExpectedInterval(time, usual);
        }
        return histogram;
    }

    /**
     * {@return a row for each percentile: both sides' from all that was measured, the ratio from neighbouring slices}
     */
    List<Row> rows(String libfabric, String provider) {
        double perOperation = (double) allocated / exchanges;
        return PERCENTILES.entrySet().stream().map(entry -> {
            Pairs of = pairs.get(entry.getKey());
            return new Row(libfabric, provider, "pingpong-" + work + "-" + entry.getKey(), SMALL, 1,
                    cTimes.getValueAtPercentile(entry.getValue()), javaTimes.getValueAtPercentile(entry.getValue()),
                    of.ratio(0.5), of.ratio(0.25), of.ratio(0.75), perOperation, 1, List.of());
        }).toList();
    }

    /** {@return how often a second each side's two threads, which spin, had to wait for others, in words} */
    String waits() {
        return String.format(Locale.ROOT,
                "pingpong-%s: the system made the threads that spin wait %.1f times a second in C, %.1f in Java", work,
                cWaits.aSecond(), javaWaits.aSecond());
    }

    String work() { return work; }

    Histogram cTimes() { return cTimes; }

    Histogram javaTimes() { return javaTimes; }
}
