/** Many processes: jobs of ranks with collectives, and a rendezvous for two. */
module io.ofi4j.job {
    requires transitive io.ofi4j;

    exports io.ofi4j.job;
}
