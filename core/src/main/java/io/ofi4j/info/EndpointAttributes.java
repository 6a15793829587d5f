package io.ofi4j.info;

/**
 * What an endpoint is; {@code struct fi_ep_attr}, fi_endpoint(3).
 *
 * @param type what kind of communication it offers
 * @param protocol the number of its wire protocol, an FI_PROTO_* value
 * @param protocolVersion the version of that protocol
 * @param maximumMessageSize the largest transfer, in bytes
 * @param messagePrefixSize how many bytes in front of a message belong to the provider
 * @param maximumOrderReadAfterWrite up to how many bytes a read sees an earlier write
 * @param maximumOrderWriteAfterRead up to how many bytes a write waits for an earlier read
 * @param maximumOrderWriteAfterWrite up to how many bytes writes land in their order
 * @param tagFormat the bits of a tag that are matched
 * @param transmitContexts how many transmit contexts it has
 * @param receiveContexts how many receive contexts it has
 */
public record EndpointAttributes(EndpointType type, int protocol, int protocolVersion, long maximumMessageSize,
        long messagePrefixSize, long maximumOrderReadAfterWrite, long maximumOrderWriteAfterRead,
        long maximumOrderWriteAfterWrite, long tagFormat, long transmitContexts, long receiveContexts) {
}
