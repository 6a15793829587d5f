/** libfabric for Java: registered off-heap regions, and transfers, messages and atomic operations on them. */
@SuppressWarnings("module") // a program may do without those that internals are exported to
module io.ofi4j {
    requires io.ofi4j.bindings;
    requires static java.management;
    requires static jdk.jfr;

    exports io.ofi4j;
    exports io.ofi4j.errors;
    exports io.ofi4j.info;
    exports io.ofi4j.util;

    exports io.ofi4j.internal.engine to io.ofi4j.verbs;
    exports io.ofi4j.internal.os to io.ofi4j.verbs;
}
