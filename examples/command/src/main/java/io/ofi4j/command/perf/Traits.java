package io.ofi4j.command.perf;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Version;

/**
 * What a device is and how much it takes.
 *
 * @param provider libfabric's provider, or what is used in its place
 * @param libfabric the version of libfabric, or none
 * @param fabric the network
 * @param domain the device
 * @param endpointType the type of its endpoints
 * @param threading its threading model
 * @param progress who makes progress
 * @param largestMessage how many bytes an operation transfers at most
 * @param largestInject how many bytes an inject transfers at most
 * @param receives how many receives an endpoint has at most
 */
record Traits(String provider, String libfabric, String fabric, String domain, String endpointType, String threading,
        String progress, long largestMessage, long largestInject, long receives) {
    static Traits of(FabricInfo info, Version libfabric) {
        return new Traits(info.provider(), libfabric.toString(), info.fabric().name(), info.domain().name(),
                info.endpoint().type().name(), info.domain().threading().name(), info.domain().dataProgress().name(),
                info.endpoint().maximumMessageSize(), info.transmit().injectSize(), info.receive().size());
    }
}
