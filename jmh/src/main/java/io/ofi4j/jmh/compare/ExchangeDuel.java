package io.ofi4j.jmh.compare;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Exchanges between two processes, by two C workers and by two Java workers in turns.
 *
 * <p>Each begins when the one before has ended, so one that is held up hides those that would have begun meanwhile (coordinated
 * omission). HdrHistogram puts them back: what took longer than the usual time, which is C's median, is recorded with all that
 * would have been begun at that interval and have waited. Both sides are corrected with the same interval.
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

    /** A side's two workers. */
    record Side(Worker ping, Worker pong) {
    }

    private final String work;
    private final Side c;
    private final Side java;
    private final Histogram cTimes = new Histogram(LONGEST, DIGITS);
    private final Histogram javaTimes = new Histogram(LONGEST, DIGITS);
    private final Map<String, Pairs> pairs = new LinkedHashMap<>();
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
        long[] times = times(exchange(c));
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
            String[] ofJava = javaFirst ? exchange(java) : null;
            String[] ofC = exchange(c);
            ofJava = javaFirst ? ofJava : exchange(java);
            javaFirst = !javaFirst;
            allocated += Long.parseLong(ofJava[1]);
            record(times(ofC), times(ofJava));
        } while (System.nanoTime() - end < 0);
    }

    private String[] exchange(Side side) {
        side.pong().send("pong " + work + " " + (UNMEASURED + count));
        String[] answer = side.ping().ask("ping " + work + " " + UNMEASURED + " " + count);
        side.pong().receive();
        return answer;
    }

    private static long[] times(String[] answer) {
        long[] times = new long[answer.length - 2];
        for (int at = 0; at < times.length; at++) {
            times[at] = Long.parseLong(answer[at + 2]);
        }
        return times;
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

    /** {@return a row for each percentile: both sides' from all that was measured, the ratio from neighbouring slices} */
    List<Row> rows(String libfabric, String provider) {
        double perOperation = (double) allocated / exchanges;
        return PERCENTILES.entrySet().stream().map(entry -> {
            Pairs of = pairs.get(entry.getKey());
            return new Row(libfabric, provider, "pingpong-" + work + "-" + entry.getKey(), SMALL, 1,
                    cTimes.getValueAtPercentile(entry.getValue()), javaTimes.getValueAtPercentile(entry.getValue()),
                    of.ratio(0.5), of.ratio(0.25), of.ratio(0.75), perOperation);
        }).toList();
    }

    String work() {
        return work;
    }

    Histogram cTimes() {
        return cTimes;
    }

    Histogram javaTimes() {
        return javaTimes;
    }
}
