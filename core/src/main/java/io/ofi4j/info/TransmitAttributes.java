package io.ofi4j.info;

/**
 * What a provider offers for outgoing operations; {@code struct fi_tx_attr}, fi_endpoint(3).
 *
 * @param capabilities capability bits of the transmit side
 * @param operationFlags the flags that every operation has by default
 * @param messageOrder the orders that are kept, as FI_ORDER_* bits
 * @param completionOrder the order in which completions come, as FI_ORDER_* bits
 * @param injectSize the largest inject, in bytes
 * @param size how many operations can be in flight
 * @param iovLimit how many local segments one operation takes
 * @param rmaIovLimit how many remote segments one operation takes
 */
public record TransmitAttributes(long capabilities, long operationFlags, long messageOrder, long completionOrder,
        long injectSize, long size, long iovLimit, long rmaIovLimit) {
}
