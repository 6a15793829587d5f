/** Netty's channels over a fabric. Experimental. */
module io.ofi4j.netty {
    requires io.ofi4j.job;
    requires transitive io.netty.transport;
    requires io.netty.buffer;
    requires io.netty.common;
    requires transitive io.ofi4j;

    exports io.ofi4j.netty;
}
