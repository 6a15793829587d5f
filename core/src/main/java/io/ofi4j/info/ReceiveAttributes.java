package io.ofi4j.info;

/**
 * What a provider offers for incoming operations; {@code struct fi_rx_attr}, fi_endpoint(3).
 *
 * @param capabilities capability bits of the receive side
 * @param operationFlags the flags that every operation has by default
 * @param messageOrder the orders that are kept, as FI_ORDER_* bits
 * @param completionOrder the order in which completions come, as FI_ORDER_* bits
 * @param size how many receives can be posted
 * @param iovLimit how many local segments one receive takes
 */
public record ReceiveAttributes(long capabilities, long operationFlags, long messageOrder, long completionOrder,
        long size, long iovLimit) {
}
