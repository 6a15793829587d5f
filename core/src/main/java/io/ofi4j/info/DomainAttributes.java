package io.ofi4j.info;

import java.util.Set;

/**
 * What a domain is; {@code struct fi_domain_attr}, fi_domain(3).
 *
 * @param name its name: a device or network interface
 * @param threading which calls the application serialises
 * @param controlProgress who moves connections and the like
 * @param dataProgress who moves data
 * @param resourceManagement whether the provider guards its queues against overrun, an FI_RM_* value
 * @param addressVectorType the preferred kind of address vector, an FI_AV_* value
 * @param memoryRegionMode what registrations must do
 * @param keySize how many bytes a key has
 * @param completionDataSize how many bytes of remote completion data travel, 0 where none do
 * @param completionQueues how many queues it can have
 * @param endpoints how many endpoints it can have
 * @param counters how many counters it can have
 * @param memoryRegionIovLimit how many segments one region can have
 * @param memoryRegions how many regions it can have, 0 where that is not known
 * @param capabilities capability bits of the domain
 * @param mode what it demands of the application, as mode bits of fi_getinfo(3); met by this library
 * @param transmitContexts how many transmit contexts it can have
 * @param receiveContexts how many receive contexts it can have
 * @param transmitContextsPerEndpoint how many of them one scalable endpoint can have
 * @param receiveContextsPerEndpoint how many of them one scalable endpoint can have
 * @param sharedTransmitContexts how many endpoints can share a transmit context
 * @param sharedReceiveContexts how many endpoints can share a receive context
 * @param authorizationKeySize how many bytes an authorization key has, 0 where there are none
 * @param errorDataSize how many bytes a provider tells of an error at most, 0 where that is not known
 * @param trafficClass the default of its endpoints, an FI_TC_* value
 * @param authorizationKeysPerEndpoint how many one endpoint can have; 0 before libfabric 2.0
 * @param maximumGroupId the largest number of a group; 0 before libfabric 2.0
 */
public record DomainAttributes(String name, ThreadingModel threading, ProgressModel controlProgress,
        ProgressModel dataProgress, int resourceManagement, int addressVectorType,
        Set<MemoryRegionMode> memoryRegionMode, long keySize, long completionDataSize, long completionQueues,
        long endpoints, long counters, long memoryRegionIovLimit, long memoryRegions, long capabilities, long mode,
        long transmitContexts, long receiveContexts, long transmitContextsPerEndpoint, long receiveContextsPerEndpoint,
        long sharedTransmitContexts, long sharedReceiveContexts, long authorizationKeySize, long errorDataSize,
        int trafficClass, long authorizationKeysPerEndpoint, long maximumGroupId) {
}
