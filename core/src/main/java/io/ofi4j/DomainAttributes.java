package io.ofi4j;

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
 */
public record DomainAttributes(String name, ThreadingModel threading, ProgressModel controlProgress,
        ProgressModel dataProgress, int resourceManagement, int addressVectorType,
        Set<MemoryRegionMode> memoryRegionMode, long keySize, long completionDataSize, long completionQueues,
        long endpoints, long counters, long memoryRegionIovLimit, long memoryRegions, long capabilities) {
}
