package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.AttributeCodec.DeviceNumbers;
import java.util.Set;

/**
 * The properties and limits of a device; {@code struct ibv_device_attr_ex}, ibv_query_device_ex(3).
 *
 * @param firmware the version of the firmware, as text
 * @param guid the node's GUID, in host byte order
 * @param vendor the vendor's number
 * @param part the vendor's part number
 * @param hardware the version of the hardware
 * @param capabilities the capabilities
 * @param capabilityBits the capabilities as flags of verbs.h, including those unknown to this release
 * @param atomics with respect to what atomic operations are atomic
 * @param maximumRegionSize the largest number of bytes of one region, as an unsigned number
 * @param maximumRegions the largest number of regions
 * @param maximumWindows the largest number of windows
 * @param maximumQueuePairs the largest number of queue pairs
 * @param maximumWorkRequests the largest number of operations in flight on one queue of a queue pair
 * @param maximumSegments the largest number of segments of an operation
 * @param maximumCompletionQueues the largest number of completion queues
 * @param maximumCompletionEntries the largest number of entries of a completion queue
 * @param maximumProtectionDomains the largest number of protection domains
 * @param maximumReadsAsTarget the largest number of a peer's reads and atomic operations that are served at a time, for
 *         each queue pair
 * @param maximumReadsAsInitiator the largest number of reads and atomic operations in flight, for each queue pair
 * @param ports the number of ports; the first port is 1
 * @param onDemand the operations that memory with on-demand paging can take part in; empty if there are none
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

    /** With respect to what atomic operations are atomic; {@code enum ibv_atomic_cap}. */
    public enum AtomicSupport {
        /** There are no atomic operations. */
        NONE,
        /** With respect to operations through the same device. */
        DEVICE,
        /** With respect to operations through the same device and to the processors. */
        GLOBAL;

        static AtomicSupport of(int value) { return value > 0 && value < values().length ? values()[value] : NONE; }
    }

    /** An operation of reliable connected queue pairs on memory with on-demand paging; {@code IBV_ODP_SUPPORT_…}. */
    public enum OnDemandOperation {
        /** The memory can be sent. */
        SEND,
        /** The memory can receive messages. */
        RECEIVE,
        /** The memory can be the source or target of a write. */
        WRITE,
        /** The memory can be the source or target of a read. */
        READ,
        /** The memory can be the target of an atomic operation. */
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
