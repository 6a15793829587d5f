package io.ofi4j.jmh.compare;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Exchanges between two processes, by two C workers and by two Java workers in turns.
 *
 * <p>An exchange is begun at every interval, four times what one takes in C, and its time is taken from when it was due. So one that
 * is held up does not hide those that it holds up in turn (coordinated omission), and both sides are asked the same.
 */
final class ExchangeDuel {
    private static final Map<String, Double> PERCENTILES = percentiles();
    private static final long SLICE = 50_000_000;
    private static final long SHORT_SLICE = 5_000_000;
    private static final int UNMEASURED = 32;
    private static final int FIRST_COUNT = 200;
    private static final int FEWEST = 50;
    private static final int MOST = 20_000;
    private static final int DIGITS = 3;
    private static final long LONGEST = 60_000_000_000L;
    private static final int SMALL = 8;
    /** In times of what an exchange takes, so that what a delay has held up is soon over. */
    private static final int INTERVAL = 4;

    /** A side's two workers. */
    record Side(Worker ping, Worker pong) {
    }

    private final String work;
    private final Side c;
    private final Side java;
    private final Histogram cTimes = new Histogram(LONGEST, DIGITS);
    private final Histogram javaTimes = new Histogram(LONGEST, DIGITS);
    private final Map<String, Pairs> pairs = new LinkedHashMap<>();
    private long interval;
    private int count;
    private long allocated;
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

    /** Finds an interval, and has the Java side compiled. */
    void warmUp(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        count = FIRST_COUNT;
        interval = 0;
        exchange(c);
        interval = INTERVAL * (long) Statistics.median(times(exchange(c)));
        count = Math.clamp(SHORT_SLICE / interval, FEWEST, MOST);
        do {
            exchange(java);
        } while (System.nanoTime() - end < 0);
        count = Math.clamp(SLICE / interval, FEWEST, MOST);
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
        String[] answer = side.ping().ask("ping " + work + " " + UNMEASURED + " " + count + " " + interval);
        side.pong().receive();
        return answer;
    }

    private static double[] times(String[] answer) {
        double[] times = new double[answer.length - 2];
        for (int at = 0; at < times.length; at++) {
            times[at] = Long.parseLong(answer[at + 2]);
        }
        return times;
    }

    private void record(double[] ofC, double[] ofJava) {
        Arrays.stream(ofC).forEach(time -> cTimes.recordValue((long) time));
        Arrays.stream(ofJava).forEach(time -> javaTimes.recordValue((long) time));
        PERCENTILES.forEach((name, percentile) -> pairs.get(name).add(Statistics.quantile(ofC, percentile / 100),
                Statistics.quantile(ofJava, percentile / 100)));
    }

    /** {@return a row for each percentile: both sides' from all that was measured, the ratio from neighbouring slices} */
    List<Row> rows(String libfabric, String provider) {
        double perOperation = (double) allocated / javaTimes.getTotalCount();
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
