package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.AttributeCodec.DeviceNumbers;
import java.util.Set;

/**
 * What a device is and how much of everything it has; {@code struct ibv_device_attr_ex}, ibv_query_device_ex(3).
 *
 * @param firmware its version, as text
 * @param guid the node's GUID, in host byte order
 * @param vendor the vendor's number
 * @param part the vendor's number of the part
 * @param hardware the version of the hardware
 * @param capabilities what it can do
 * @param capabilityBits the same as flags of verbs.h, with those that are newer than this enum
 * @param atomics what its atomic operations are atomic with
 * @param maximumRegionSize the bytes of one region, as an unsigned number
 * @param maximumRegions the number of regions
 * @param maximumWindows the number of windows
 * @param maximumQueuePairs the number of queue pairs
 * @param maximumWorkRequests the operations in flight on one queue of a queue pair
 * @param maximumSegments the segments of an operation
 * @param maximumCompletionQueues the number of completion queues
 * @param maximumCompletionEntries the entries of a completion queue
 * @param maximumProtectionDomains the number of protection domains
 * @param maximumReadsAsTarget the reads and atomic operations of a peer that are served at a time, for each queue pair
 * @param maximumReadsAsInitiator the reads and atomic operations that are under way at a time, for each queue pair
 * @param ports the number of ports, the first of which is 1
 * @param onDemand what can be done with memory that is registered on demand; empty if nothing
 */
public record DeviceAttributes(String firmware, long guid, int vendor, int part, int hardware,
        Set<DeviceCapability> capabilities, long capabilityBits, AtomicSupport atomics, long maximumRegionSize,
        int maximumRegions, int maximumWindows, int maximumQueuePairs, int maximumWorkRequests, int maximumSegments,
        int maximumCompletionQueues, int maximumCompletionEntries, int maximumProtectionDomains,
        int maximumReadsAsTarget, int maximumReadsAsInitiator, int ports, Set<OnDemandOperation> onDemand) {

    /** Copies the sets. */
    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
        onDemand = Set.copyOf(onDemand);
    }

    /** What atomic operations are atomic with; {@code enum ibv_atomic_cap}. */
    public enum AtomicSupport {
        /** There are none. */
        NONE,
        /** Others through the same device. */
        DEVICE,
        /** Others through the same device, and the processors. */
        GLOBAL;

        static AtomicSupport of(int value) { return value > 0 && value < values().length ? values()[value] : NONE; }
    }

    /**
     * What reliable connected queue pairs can do with memory that is registered on demand; {@code IBV_ODP_SUPPORT_…}.
     */
    public enum OnDemandOperation {
        /** It can be sent. */
        SEND,
        /** It can receive. */
        RECEIVE,
        /** It can be the source or target of a write. */
        WRITE,
        /** It can be the source or target of a read. */
        READ,
        /** It can be the target of an atomic operation. */
        ATOMIC;

        static Set<OnDemandOperation> setOf(int bits) {
            return Set.of(java.util.Arrays.stream(values()).filter(one -> (bits & 1 << one.ordinal()) != 0)
                    .toArray(OnDemandOperation[]::new));
        }
    }

    static DeviceAttributes of(DeviceNumbers from) {
        return new DeviceAttributes(from.firmware(), from.guid(), from.vendor(), from.part(), from.hardware(),
                DeviceCapability.setOf(from.capabilities()), from.capabilities(), AtomicSupport.of(from.atomics()),
                from.region(), from.regions(), from.windows(), from.queuePairs(), from.workRequests(), from.segments(),
                from.queues(), from.entries(), from.domains(), from.readsAsTarget(), from.readsAsInitiator(),
                from.ports(), OnDemandOperation.setOf((from.onDemand() & 1) == 0 ? 0 : from.onDemandOperations()));
    }
}
