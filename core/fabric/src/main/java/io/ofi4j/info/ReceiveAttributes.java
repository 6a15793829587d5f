package io.ofi4j.info;

import java.util.Set;

/**
 * What a provider offers for incoming operations; {@code struct fi_rx_attr}, fi_endpoint(3).
 *
 * @param capabilities the capabilities of the receive side
 * @param operationFlags the default flags of every operation
 * @param messageOrder the guaranteed orders of operations
 * @param completionOrder the guaranteed orders of completions
 * @param size the largest number of posted receives
 * @param iovLimit the largest number of local segments of one receive
 * @param bufferedSize the number of bytes for messages that come before their receive; libfabric 2 does not report it
 */
public record ReceiveAttributes(Set<Capability> capabilities, Set<OperationFlag> operationFlags,
        Set<MessageOrder> messageOrder, Set<CompletionOrder> completionOrder, long size, long iovLimit,
        long bufferedSize) {
    /**
     * {@return whether the provider promises that receives complete in the order in which messages match them} Without
     * the promise, a short message may complete before a long one that came first. Libfabric 2 no longer reports it:
     * there this is false, and a program must not rely on an order.
     */
    public boolean completesInOrder() { return completionOrder.contains(CompletionOrder.STRICT); }
}
