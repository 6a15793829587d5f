/**
 * Benchmarks: what ofi4j costs beside the raw calls that it stands on. They run from the class path, as JMH wants it.
 */
module io.ofi4j.jmh {
    requires io.ofi4j;
    requires io.ofi4j.bindings;
    requires jmh.core;
    requires info.picocli;
    requires com.google.gson;
    requires HdrHistogram;
    requires xchart;
    requires jucx;
    requires java.desktop;
    requires jdk.management;

    opens io.ofi4j.jmh.compare to info.picocli;
}
