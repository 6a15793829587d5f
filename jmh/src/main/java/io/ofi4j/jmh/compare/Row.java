package io.ofi4j.jmh.compare;

import com.google.gson.JsonObject;

/**
 * One result.
 *
 * @param libfabric its version
 * @param provider the provider
 * @param operation what was done
 * @param size how many bytes an operation moves
 * @param window how many operations are in flight
 * @param cNs what an operation takes in C, in nanoseconds
 * @param javaNs what it takes in Java
 * @param ratio the median of the ratios of neighbouring slices
 * @param lowerQuartile of these ratios
 * @param upperQuartile of these ratios
 * @param allocBytes how many bytes Java allocates for an operation
 */
record Row(String libfabric, String provider, String operation, long size, long window, double cNs, double javaNs,
        double ratio, double lowerQuartile, double upperQuartile, double allocBytes) {
    static Row of(String libfabric, String provider, String operation, long size, long window, Pairs pairs,
            double allocBytes) {
        return new Row(libfabric, provider, operation, size, window, pairs.medianOfC(), pairs.medianOfJava(),
                pairs.ratio(0.5), pairs.ratio(0.25), pairs.ratio(0.75), allocBytes);
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
        json.addProperty("allocBytes", rounded(allocBytes, 1_000));
        return json.toString();
    }

    private static double rounded(double value, double unit) { return Math.round(value * unit) / unit; }
}
