/** RDMA beside libfabric: the path over libibverbs and librdmacm. */
module io.ofi4j.verbs {
    requires transitive io.ofi4j;
    requires io.ofi4j.bindings.verbs;

    exports io.ofi4j.verbs;
}
