package io.ofi4j.command.perf;

/** Where ends are opened: a domain of libfabric, or an RDMA device. */
interface Device extends AutoCloseable {
    /** {@return what it is and how much it takes} */
    Traits traits();

    /** {@return what both ends must have in common} */
    String kind();

    /** {@return an end for a plan}
     * @param isTarget whether it is the one whose memory is written and read */
    End open(Plan plan, boolean isTarget);

    /** {@return another of the same, for another thread} */
    Device again();

    @Override
    void close();
}
