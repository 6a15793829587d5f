package io.ofi4j.info;

import java.util.Set;

/**
 * What a domain offers; {@code struct fi_domain_attr}, fi_domain(3).
 *
 * @param name the device or network interface
 * @param threading which calls the application serialises
 * @param controlProgress who makes progress on connections and other control operations
 * @param dataProgress who makes progress on data transfers
 * @param resourceManagement whether the provider protects its queues against overrun
 * @param addressVectorType the preferred type of address vector
 * @param memoryRegionMode the requirements for memory registration
 * @param keySize the size of a key, in bytes
 * @param completionDataSize the size of remote completion data, in bytes; 0 if the provider carries none
 * @param completionQueues the largest number of completion queues
 * @param endpoints the largest number of endpoints
 * @param counters the largest number of counters
 * @param memoryRegionIovLimit the largest number of segments of one region
 * @param memoryRegions the largest number of regions, 0 if unknown
 * @param capabilities the capabilities of the domain
 * @param mode what the provider demands of the application, mode bits of fi_getinfo(3); ofi4j meets them
 * @param transmitContexts the largest number of transmit contexts
 * @param receiveContexts the largest number of receive contexts
 * @param transmitContextsPerEndpoint the largest number of transmit contexts of one scalable endpoint
 * @param receiveContextsPerEndpoint the largest number of receive contexts of one scalable endpoint
 * @param sharedTransmitContexts the largest number of endpoints that share a transmit context
 * @param sharedReceiveContexts the largest number of endpoints that share a receive context
 * @param authorizationKeySize the size of an authorization key, in bytes; 0 if there are none
 * @param errorDataSize the largest size of provider data about an error, in bytes; 0 if unknown
 * @param trafficClass the default of its endpoints
 * @param authorizationKeysPerEndpoint the largest number of keys of one endpoint; 0 before libfabric 2.0
 * @param maximumGroupId the largest number of a group; 0 before libfabric 2.0
 */
public record DomainAttributes(String name, ThreadingModel threading, ProgressModel controlProgress,
        ProgressModel dataProgress, ResourceManagement resourceManagement, AddressVectorType addressVectorType,
        Set<MemoryRegionMode> memoryRegionMode, long keySize, long completionDataSize, long completionQueues,
        long endpoints, long counters, long memoryRegionIovLimit, long memoryRegions, Set<Capability> capabilities,
        long mode, long transmitContexts, long receiveContexts, long transmitContextsPerEndpoint,
        long receiveContextsPerEndpoint, long sharedTransmitContexts, long sharedReceiveContexts,
        long authorizationKeySize, long errorDataSize, TrafficClass trafficClass, long authorizationKeysPerEndpoint,
        long maximumGroupId) {}
