package io.ofi4j.examples.perf;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;

/**
 * What holds for every row.
 *
 * @param operation what is measured
 * @param libfabric the version of libfabric
 * @param info the provider with its attributes
 * @param window how many operations are in flight
 * @param verify whether the data is verified
 * @param peer where the other end is, or null where it is in this process
 */
record Header(Operation operation, Version libfabric, FabricInfo info, int window, boolean verify, String peer) {
    String mode() { return peer == null ? "embedded" : "two processes"; }

    ThreadingModel threading() { return info.domain().threading(); }

    ProgressModel progress() { return info.domain().dataProgress(); }
}
