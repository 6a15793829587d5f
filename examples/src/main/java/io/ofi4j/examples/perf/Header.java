package io.ofi4j.examples.perf;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;

/**
 * What holds for every row.
 *
 * @param settings what the user asked for
 * @param libfabric the version of libfabric
 * @param info the provider with its attributes
 * @param peer where the other end is, or null where it is in this process
 */
record Header(Settings settings, Version libfabric, FabricInfo info, String peer) {
    Operation operation() { return settings.operation(); }

    int window() { return settings.window(); }

    boolean verify() { return settings.verify(); }

    String mode() { return peer == null ? "embedded" : "two processes"; }

    ThreadingModel threading() { return info.domain().threading(); }

    ProgressModel progress() { return info.domain().dataProgress(); }
}
