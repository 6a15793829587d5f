package io.ofi4j.info;

import java.util.Set;

/**
 * What a provider offers for outgoing operations; {@code struct fi_tx_attr}, fi_endpoint(3).
 *
 * @param capabilities the capabilities of the transmit side
 * @param operationFlags the default flags of every operation
 * @param messageOrder the guaranteed orders of operations
 * @param completionOrder the guaranteed orders of completions
 * @param injectSize the largest inject, in bytes
 * @param size the largest number of operations in flight
 * @param iovLimit the largest number of local segments of one operation
 * @param rmaIovLimit the largest number of remote segments of one operation
 * @param trafficClass the default of operations
 */
public record TransmitAttributes(Set<Capability> capabilities, Set<OperationFlag> operationFlags,
        Set<MessageOrder> messageOrder, Set<CompletionOrder> completionOrder, long injectSize, long size, long iovLimit,
        long rmaIovLimit, TrafficClass trafficClass) {
    /**
     * {@return whether the provider promises that operations complete in the order of their posts} Libfabric 2 no
     * longer reports it: there this is false, and a program must not rely on an order.
     */
    public boolean completesInOrder() { return completionOrder.contains(CompletionOrder.STRICT); }
}
