/** libfabric for Java: registered off-heap regions, and transfers, messages and atomic operations on them. */
module io.ofi4j {
    requires io.ofi4j.bindings;
    requires static jdk.jfr;

    exports io.ofi4j;
    exports io.ofi4j.info;
    exports io.ofi4j.job;
    exports io.ofi4j.util;
    exports io.ofi4j.verbs;
}
