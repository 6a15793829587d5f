package io.ofi4j.info;

/**
 * What an endpoint offers; {@code struct fi_ep_attr}, fi_endpoint(3).
 *
 * @param type the kind of communication
 * @param protocol the wire protocol; {@link FabricInfo#protocolName} has the name of one that this release does not
 *         know
 * @param protocolVersion the version of that protocol
 * @param maximumMessageSize the largest transfer, in bytes
 * @param messagePrefixSize the number of bytes before a message that are reserved for the provider
 * @param maximumOrderReadAfterWrite the largest transfer, in bytes, for which a read is ordered after an earlier write
 * @param maximumOrderWriteAfterRead the largest transfer, in bytes, for which a write is ordered after an earlier read
 * @param maximumOrderWriteAfterWrite the largest transfer, in bytes, for which a write is ordered after an earlier
 *         write
 * @param tagFormat the bits of a tag that are matched: the highest bit that is set and all below it; see {@link
 *         AttributeHints#tagFormat}
 * @param transmitContexts the number of transmit contexts of a scalable endpoint, or {@link #SHARED_CONTEXT}
 * @param receiveContexts the number of receive contexts of a scalable endpoint, or {@link #SHARED_CONTEXT}
 */
public record EndpointAttributes(EndpointType type, Protocol protocol, int protocolVersion, long maximumMessageSize,
        long messagePrefixSize, long maximumOrderReadAfterWrite, long maximumOrderWriteAfterRead,
        long maximumOrderWriteAfterWrite, long tagFormat, long transmitContexts, long receiveContexts) {
    /** Stands for a shared context, instead of a number of contexts; FI_SHARED_CONTEXT. */
    public static final long SHARED_CONTEXT = -1;
}
