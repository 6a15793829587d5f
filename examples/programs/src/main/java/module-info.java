/** Small programs worth reading. */
@SuppressWarnings("requires-automatic") // HdrHistogram has no module descriptor
module io.ofi4j.examples {
    requires io.ofi4j;
    requires io.ofi4j.job;
    requires io.ofi4j.durable;
    requires io.ofi4j.verbs;
    requires java.management; // statistics as beans
    requires HdrHistogram;
    requires io.ofi4j.netty;
    requires io.netty.buffer;
    requires io.netty.common;

    opens io.ofi4j.examples.monitoring to java.management;
}
