package io.ofi4j.jmh.compare;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One result, of one JVM or of several.
 *
 * @param libfabric its version
 * @param provider the provider
 * @param operation what was done
 * @param size how many bytes an operation moves
 * @param window how many operations are in flight
 * @param cNs what an operation takes in C, in nanoseconds
 * @param javaNs what it takes in Java
 * @param ratio the median of the ratios of neighbouring slices; of several JVMs, the median of their medians
 * @param from the lower quartile of these ratios; of several JVMs, the ratio of the fastest
 * @param to the upper quartile; of several JVMs, the ratio of the slowest
 * @param allocBytes how many bytes Java allocates for an operation, in the JVM that allocates most
 * @param jvms how many JVMs were measured
 * @param each of several JVMs, the row of each
 */
record Row(String libfabric, String provider, String operation, long size, long window, double cNs, double javaNs,
        double ratio, double from, double to, double allocBytes, int jvms, List<Row> each) {
    static Row of(String libfabric, String provider, String operation, long size, long window, Pairs pairs,
            double allocBytes) {
        return new Row(libfabric, provider, operation, size, window, pairs.medianOfC(), pairs.medianOfJava(),
                pairs.ratio(0.5), pairs.ratio(0.25), pairs.ratio(0.75), allocBytes, 1, List.of());
    }

    /** {@return the row of several JVMs, from a row of each} */
    static Row of(List<Row> jvms) {
        if (jvms.size() == 1) { return jvms.getFirst(); }
        Row first = jvms.getFirst();
        return new Row(first.libfabric, first.provider, first.operation, first.size, first.window,
                quantile(jvms, Row::cNs, 0.5), quantile(jvms, Row::javaNs, 0.5), quantile(jvms, Row::ratio, 0.5),
                quantile(jvms, Row::ratio, 0), quantile(jvms, Row::ratio, 1), quantile(jvms, Row::allocBytes, 1),
                jvms.size(), List.copyOf(jvms));
    }

    private static double quantile(List<Row> jvms, ToDoubleFunction<Row> what, double part) {
        return Statistics.quantile(jvms.stream().mapToDouble(what).toArray(), part);
    }

    /** {@return whether another row is of the same work} */
    boolean isLike(Row other) {
        return provider.equals(other.provider) && operation.equals(other.operation) && size == other.size
                && window == other.window;
    }

    /** {@return what {@code --json} writes of it} */
    String json() {
        JsonObject json = new JsonObject();
        json.addProperty("libfabric", libfabric);
        json.addProperty("provider", provider);
        json.addProperty("operation", operation);
        json.addProperty("size", size);
        json.addProperty("window", window);
        json.addProperty("cNs", rounded(cNs, 100));
        json.addProperty("javaNs", rounded(javaNs, 100));
        json.addProperty("ratio", rounded(ratio, 10_000));
        json.addProperty("from", rounded(from, 10_000));
        json.addProperty("to", rounded(to, 10_000));
        json.addProperty("jvms", jvms);
        json.addProperty("allocBytes", rounded(allocBytes, 1_000));
        if (!each.isEmpty()) { json.add("each", timesOfEach()); }
        return json.toString();
    }

    /** They show whether C or Java was faster than usual where a ratio is unusual. */
    private JsonArray timesOfEach() {
        JsonArray all = new JsonArray();
        for (Row one : each) {
            JsonObject times = new JsonObject();
            times.addProperty("cNs", rounded(one.cNs, 100));
            times.addProperty("javaNs", rounded(one.javaNs, 100));
            times.addProperty("ratio", rounded(one.ratio, 10_000));
            all.add(times);
        }
        return all;
    }

    private static double rounded(double value, double unit) { return Math.round(value * unit) / unit; }
}
