/** Many processes: jobs of ranks with collectives, a rendezvous for two, and a server of peers that come and go. */
module io.ofi4j.job {
    requires jdk.net;
    requires transitive io.ofi4j;

    exports io.ofi4j.job;
}
