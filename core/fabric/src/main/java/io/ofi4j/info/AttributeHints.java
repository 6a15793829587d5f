package io.ofi4j.info;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What a provider must offer in the attributes of its domain and endpoints, in addition to {@link FabricHints}: limits
 * and ordering guarantees; fi_getinfo(3). Immutable: each method returns a changed copy. Sizes are 0 (the provider's
 * preference) or more; a negative one throws IllegalArgumentException.
 */
public final class AttributeHints extends Changeable<AttributeHints> {
    private AddressVectorType addressVectorType = AddressVectorType.UNSPECIFIED;
    private ResourceManagement resourceManagement = ResourceManagement.UNSPECIFIED;
    private TrafficClass trafficClass = TrafficClass.UNSPECIFIED;
    private Set<MessageOrder> messageOrder = Set.of();
    private Set<CompletionOrder> completionOrder = Set.of();
    private long transmitSize;
    private long receiveSize;
    private long injectSize;
    private long completionDataSize;
    private long tagFormat;
    private long transmitContexts;
    private long receiveContexts;
    private long transmitIovLimit;
    private long rmaIovLimit;
    private long receiveIovLimit;
    private long bufferedReceiveSize;
    private long maximumMessageSize;
    private long maximumOrderReadAfterWrite;
    private long maximumOrderWriteAfterRead;
    private long maximumOrderWriteAfterWrite;
    private long keySize;
    private long completionQueues;
    private long endpoints;
    private long counters;
    private long memoryRegions;
    private long memoryRegionIovLimit;
    private long errorDataSize;
    private long domainTransmitContexts;
    private long domainReceiveContexts;
    private long transmitContextsPerEndpoint;
    private long receiveContextsPerEndpoint;
    private long sharedTransmitContexts;
    private long sharedReceiveContexts;
    private long authorizationKeysPerEndpoint;
    private long maximumGroupId;
    private Set<Capability> transmitCapabilities = Set.of();
    private Set<Capability> receiveCapabilities = Set.of();
    private Protocol protocol = Protocol.UNSPECIFIED;
    private int protocolVersion;
    private byte[] authorizationKey = {};

    private AttributeHints() {}

    /** {@return hints that ask for nothing} */
    public static AttributeHints none() { return new AttributeHints(); }

    /** {@return a copy that asks for this type of address vector} */
    public AttributeHints addressVectorType(AddressVectorType type) {
        return with(copy -> copy.addressVectorType = Objects.requireNonNull(type));
    }

    /**
     * {@return a copy that asks for this resource management: whether the provider or the application protects queues
     * against overrun}
     */
    public AttributeHints resourceManagement(ResourceManagement management) {
        return with(copy -> copy.resourceManagement = Objects.requireNonNull(management));
    }

    /** {@return a copy that asks for this traffic class, of domain and endpoints} */
    public AttributeHints trafficClass(TrafficClass wanted) {
        return with(copy -> copy.trafficClass = Objects.requireNonNull(wanted));
    }

    /** {@return a copy that asks for exactly these orders of operations to one peer} */
    public AttributeHints messageOrder(MessageOrder... orders) {
        return with(copy -> copy.messageOrder = Constants.subset(MessageOrder.class, List.of(orders)::contains));
    }

    /** {@return a copy that asks for exactly these orders of completions} */
    public AttributeHints completionOrder(CompletionOrder... orders) {
        return with(copy -> copy.completionOrder = Constants.subset(CompletionOrder.class, List.of(orders)::contains));
    }

    /** {@return a copy whose endpoints must take at least this many operations in flight} */
    public AttributeHints transmitSize(long operations) {
        return with(copy -> copy.transmitSize = requireSize(operations, "a transmit size"));
    }

    /** {@return a copy whose endpoints must take at least this many posted receives} */
    public AttributeHints receiveSize(long operations) {
        return with(copy -> copy.receiveSize = requireSize(operations, "a receive size"));
    }

    /** {@return a copy whose endpoints must inject at least this many bytes} */
    public AttributeHints injectSize(long bytes) {
        return with(copy -> copy.injectSize = requireSize(bytes, "an inject size"));
    }

    /**
     * {@return a copy whose completions must carry at least this many bytes of remote data; the cq_data_size of
     * fi_domain(3)} Some providers have several infos, of which the first carries none.
     */
    public AttributeHints completionDataSize(long bytes) {
        return with(copy -> copy.completionDataSize = requireSize(bytes, "a size of completion data"));
    }

    /**
     * {@return a copy whose endpoints match tags of at least this format; the mem_tag_format of fi_endpoint(3)} A
     * provider need not match bits above the highest bit that is set. Below it, groups of set bits and groups of
     * cleared bits are fields, of which a receive ignores all bits or none. 0 stands for the provider's preference.
     * {@link EndpointAttributes#tagFormat} is what was granted.
     */
    public AttributeHints tagFormat(long format) { return with(copy -> copy.tagFormat = format); }

    /** {@return a copy whose scalable endpoints have at least this many transmit contexts; fi_endpoint(3)} */
    public AttributeHints transmitContexts(long contexts) {
        return with(copy -> copy.transmitContexts = requireSize(contexts, "a number of contexts"));
    }

    /** {@return a copy whose scalable endpoints have at least this many receive contexts; fi_endpoint(3)} */
    public AttributeHints receiveContexts(long contexts) {
        return with(copy -> copy.receiveContexts = requireSize(contexts, "a number of contexts"));
    }

    /** {@return a copy whose endpoints transmit through a shared context; FI_SHARED_CONTEXT, fi_endpoint(3)} */
    public AttributeHints sharedTransmitContext() {
        return with(copy -> copy.transmitContexts = EndpointAttributes.SHARED_CONTEXT);
    }

    /** {@return a copy whose endpoints receive through a shared context; FI_SHARED_CONTEXT, fi_endpoint(3)} */
    public AttributeHints sharedReceiveContext() {
        return with(copy -> copy.receiveContexts = EndpointAttributes.SHARED_CONTEXT);
    }

    /**
     * {@return a copy whose operations must take at least this many local segments; the iov_limit of struct fi_tx_attr}
     */
    public AttributeHints transmitIovLimit(long wanted) {
        return with(copy -> copy.transmitIovLimit = requireSize(wanted, "a number of segments"));
    }

    /** {@return a copy whose operations must take at least this many remote segments; rma_iov_limit} */
    public AttributeHints rmaIovLimit(long wanted) {
        return with(copy -> copy.rmaIovLimit = requireSize(wanted, "a number of segments"));
    }

    /** {@return a copy whose receives must take at least this many segments; the iov_limit of struct fi_rx_attr} */
    public AttributeHints receiveIovLimit(long wanted) {
        return with(copy -> copy.receiveIovLimit = requireSize(wanted, "a number of segments"));
    }

    /**
     * {@return a copy that asks for this many bytes for messages that come before their receive; total_buffered_recv,
     * which libfabric 2 ignores}
     */
    public AttributeHints bufferedReceiveSize(long wanted) {
        return with(copy -> copy.bufferedReceiveSize = requireSize(wanted, "a size of buffers"));
    }

    /** {@return a copy whose endpoints must transfer at least this many bytes at once; max_msg_size} */
    public AttributeHints maximumMessageSize(long wanted) {
        return with(copy -> copy.maximumMessageSize = requireSize(wanted, "a message size"));
    }

    /**
     * {@return a copy whose reads of up to this many bytes must be ordered after earlier writes; max_order_raw_size}
     */
    public AttributeHints maximumOrderReadAfterWrite(long wanted) {
        return with(copy -> copy.maximumOrderReadAfterWrite = requireSize(wanted, "a size"));
    }

    /**
     * {@return a copy whose writes of up to this many bytes must be ordered after earlier reads; max_order_war_size}
     */
    public AttributeHints maximumOrderWriteAfterRead(long wanted) {
        return with(copy -> copy.maximumOrderWriteAfterRead = requireSize(wanted, "a size"));
    }

    /**
     * {@return a copy whose writes of up to this many bytes must be ordered after earlier writes; max_order_waw_size}
     */
    public AttributeHints maximumOrderWriteAfterWrite(long wanted) {
        return with(copy -> copy.maximumOrderWriteAfterWrite = requireSize(wanted, "a size"));
    }

    /** {@return a copy that asks for keys of this many bytes; the mr_key_size of fi_domain(3)} */
    public AttributeHints keySize(long wanted) {
        return with(copy -> copy.keySize = requireSize(wanted, "a key size"));
    }

    /** {@return a copy whose domain must have at least this many completion queues; cq_cnt} */
    public AttributeHints completionQueues(long wanted) {
        return with(copy -> copy.completionQueues = requireSize(wanted, "a number of queues"));
    }

    /** {@return a copy whose domain must have at least this many endpoints; ep_cnt} */
    public AttributeHints endpoints(long wanted) {
        return with(copy -> copy.endpoints = requireSize(wanted, "a number of endpoints"));
    }

    /** {@return a copy whose domain must have at least this many counters; cntr_cnt} */
    public AttributeHints counters(long wanted) {
        return with(copy -> copy.counters = requireSize(wanted, "a number of counters"));
    }

    /** {@return a copy whose domain must have at least this many regions; mr_cnt} */
    public AttributeHints memoryRegions(long wanted) {
        return with(copy -> copy.memoryRegions = requireSize(wanted, "a number of regions"));
    }

    /** {@return a copy whose regions must take at least this many segments; mr_iov_limit} */
    public AttributeHints memoryRegionIovLimit(long wanted) {
        return with(copy -> copy.memoryRegionIovLimit = requireSize(wanted, "a number of segments"));
    }

    /** {@return a copy that asks for this many bytes of provider data about an error; max_err_data} */
    public AttributeHints errorDataSize(long wanted) {
        return with(copy -> copy.errorDataSize = requireSize(wanted, "a size of error data"));
    }

    /** {@return a copy whose domain must have at least this many transmit contexts; the tx_ctx_cnt of fi_domain(3)} */
    public AttributeHints domainTransmitContexts(long wanted) {
        return with(copy -> copy.domainTransmitContexts = requireSize(wanted, "a number of contexts"));
    }

    /** {@return a copy whose domain must have at least this many receive contexts; the rx_ctx_cnt of fi_domain(3)} */
    public AttributeHints domainReceiveContexts(long wanted) {
        return with(copy -> copy.domainReceiveContexts = requireSize(wanted, "a number of contexts"));
    }

    /**
     * {@return a copy whose domain must allow a scalable endpoint at least this many transmit contexts; max_ep_tx_ctx}
     */
    public AttributeHints transmitContextsPerEndpoint(long wanted) {
        return with(copy -> copy.transmitContextsPerEndpoint = requireSize(wanted, "a number of contexts"));
    }

    /**
     * {@return a copy whose domain must allow a scalable endpoint at least this many receive contexts; max_ep_rx_ctx}
     */
    public AttributeHints receiveContextsPerEndpoint(long wanted) {
        return with(copy -> copy.receiveContextsPerEndpoint = requireSize(wanted, "a number of contexts"));
    }

    /** {@return a copy whose domain must let at least this many endpoints share a transmit context; max_ep_stx_ctx} */
    public AttributeHints sharedTransmitContexts(long wanted) {
        return with(copy -> copy.sharedTransmitContexts = requireSize(wanted, "a number of endpoints"));
    }

    /** {@return a copy whose domain must let at least this many endpoints share a receive context; max_ep_srx_ctx} */
    public AttributeHints sharedReceiveContexts(long wanted) {
        return with(copy -> copy.sharedReceiveContexts = requireSize(wanted, "a number of endpoints"));
    }

    /**
     * {@return a copy whose endpoints must take at least this many authorization keys; max_ep_auth_key, which libfabric
     * 1 does not have and ofi4j does not pass to it}
     */
    public AttributeHints authorizationKeysPerEndpoint(long wanted) {
        return with(copy -> copy.authorizationKeysPerEndpoint = requireSize(wanted, "a number of keys"));
    }

    /**
     * {@return a copy that asks for groups with numbers up to this one, at most 4,294,967,295; max_group_id, which
     * libfabric 1 does not have and ofi4j does not pass to it}
     */
    public AttributeHints maximumGroupId(long wanted) {
        if (requireSize(wanted, "a group number") >>> Integer.SIZE != 0) {
            throw new IllegalArgumentException("a group number has 32 bits, and " + wanted + " has more");
        }
        return with(copy -> copy.maximumGroupId = wanted);
    }

    /**
     * {@return a copy whose transmit side must have exactly these capabilities; the caps of struct fi_tx_attr} If there
     * are none, it has those of {@link FabricHints#capabilities}.
     */
    public AttributeHints transmitCapabilities(Capability... wanted) {
        return with(copy -> copy.transmitCapabilities = Constants.subset(Capability.class, List.of(wanted)::contains));
    }

    /** {@return as {@link #transmitCapabilities(Capability...)}, of the receive side; the caps of struct fi_rx_attr} */
    public AttributeHints receiveCapabilities(Capability... wanted) {
        return with(copy -> copy.receiveCapabilities = Constants.subset(Capability.class, List.of(wanted)::contains));
    }

    /**
     * {@return a copy that asks for this wire protocol; fi_endpoint(3)} It must not be {@link Protocol#OTHER}.
     *
     * @throws IllegalArgumentException if it is
     */
    public AttributeHints protocol(Protocol wanted) {
        if (wanted == Protocol.OTHER) {
            throw new IllegalArgumentException("OTHER cannot be asked for: choose a protocol, or UNSPECIFIED");
        }
        return with(copy -> copy.protocol = Objects.requireNonNull(wanted));
    }

    /** {@return a copy that asks for this version of the wire protocol, 0 for the provider's preference} */
    public AttributeHints protocolVersion(int version) {
        return with(copy -> copy.protocolVersion = version);
    }

    /**
     * {@return a copy whose domain and endpoints have this authorization key, such as one that the fabric's manager has
     * given to a job; auth_key, fi_domain(3)} Few providers have such keys; {@link
     * DomainAttributes#authorizationKeySize} is the length that they take, in bytes.
     *
     * @param key the bytes, which are copied; an empty array for no key
     */
    public AttributeHints authorizationKey(byte[] key) {
        byte[] its = key.clone();
        return with(copy -> copy.authorizationKey = its);
    }

    private static long requireSize(long size, String what) {
        if (size < 0) { throw new IllegalArgumentException(what + " is 0 or more, not " + size); }
        return size;
    }

    /** {@return the requested type of address vector} */
    public AddressVectorType addressVectorType() {
        return addressVectorType;
    }

    /** {@return the requested resource management} */
    public ResourceManagement resourceManagement() {
        return resourceManagement;
    }

    /** {@return the requested traffic class} */
    public TrafficClass trafficClass() { return trafficClass; }

    /** {@return the requested orders of operations} */
    public Set<MessageOrder> messageOrder() { return messageOrder; }

    /** {@return the requested orders of completions} */
    public Set<CompletionOrder> completionOrder() {
        return completionOrder;
    }

    /** {@return the requested number of operations in flight, 0 for the provider's preference} */
    public long transmitSize() {
        return transmitSize;
    }

    /** {@return the requested number of posted receives, 0 for the provider's preference} */
    public long receiveSize() {
        return receiveSize;
    }

    /** {@return the requested number of bytes for an inject, 0 for the provider's preference} */
    public long injectSize() {
        return injectSize;
    }

    /** {@return the requested number of bytes of remote data in a completion, 0 for the provider's preference} */
    public long completionDataSize() {
        return completionDataSize;
    }

    /** {@return the requested format of tags, 0 for the provider's preference} */
    public long tagFormat() {
        return tagFormat;
    }

    /**
     * {@return the requested number of transmit contexts: 0 for the provider's preference,
     * {@link EndpointAttributes#SHARED_CONTEXT} for a shared one}
     */
    public long transmitContexts() { return transmitContexts; }

    /** {@return the requested number of receive contexts, as in {@link #transmitContexts()}} */
    public long receiveContexts() {
        return receiveContexts;
    }

    /** {@return the requested number of local segments of an operation, 0 for the provider's preference} */
    public long transmitIovLimit() {
        return transmitIovLimit;
    }

    /** {@return the requested number of remote segments of an operation, 0 for the provider's preference} */
    public long rmaIovLimit() {
        return rmaIovLimit;
    }

    /** {@return the requested number of segments of a receive, 0 for the provider's preference} */
    public long receiveIovLimit() {
        return receiveIovLimit;
    }

    /**
     * {@return the requested number of bytes for messages that come before their receive, 0 for the provider's
     * preference}
     */
    public long bufferedReceiveSize() { return bufferedReceiveSize; }

    /** {@return the requested length of a transfer, in bytes, 0 for the provider's preference} */
    public long maximumMessageSize() {
        return maximumMessageSize;
    }

    /**
     * {@return the requested length, in bytes, up to which reads are ordered after writes, 0 for the provider's
     * preference}
     */
    public long maximumOrderReadAfterWrite() { return maximumOrderReadAfterWrite; }

    /**
     * {@return the requested length, in bytes, up to which writes are ordered after reads, 0 for the provider's
     * preference}
     */
    public long maximumOrderWriteAfterRead() { return maximumOrderWriteAfterRead; }

    /**
     * {@return the requested length, in bytes, up to which writes are ordered after writes, 0 for the provider's
     * preference}
     */
    public long maximumOrderWriteAfterWrite() { return maximumOrderWriteAfterWrite; }

    /** {@return the requested size of a key, in bytes, 0 for the provider's preference} */
    public long keySize() {
        return keySize;
    }

    /** {@return the requested number of completion queues, 0 for the provider's preference} */
    public long completionQueues() {
        return completionQueues;
    }

    /** {@return the requested number of endpoints, 0 for the provider's preference} */
    public long endpoints() {
        return endpoints;
    }

    /** {@return the requested number of counters, 0 for the provider's preference} */
    public long counters() {
        return counters;
    }

    /** {@return the requested number of regions, 0 for the provider's preference} */
    public long memoryRegions() {
        return memoryRegions;
    }

    /** {@return the requested number of segments of a region, 0 for the provider's preference} */
    public long memoryRegionIovLimit() {
        return memoryRegionIovLimit;
    }

    /** {@return the requested size of data about an error, in bytes, 0 for the provider's preference} */
    public long errorDataSize() {
        return errorDataSize;
    }

    /** {@return the requested number of transmit contexts of the domain, 0 for the provider's preference} */
    public long domainTransmitContexts() {
        return domainTransmitContexts;
    }

    /** {@return the requested number of receive contexts of the domain, 0 for the provider's preference} */
    public long domainReceiveContexts() {
        return domainReceiveContexts;
    }

    /** {@return the requested limit of transmit contexts of a scalable endpoint, 0 for the provider's preference} */
    public long transmitContextsPerEndpoint() {
        return transmitContextsPerEndpoint;
    }

    /** {@return the requested limit of receive contexts of a scalable endpoint, 0 for the provider's preference} */
    public long receiveContextsPerEndpoint() {
        return receiveContextsPerEndpoint;
    }

    /** {@return the requested number of endpoints that share a transmit context, 0 for the provider's preference} */
    public long sharedTransmitContexts() {
        return sharedTransmitContexts;
    }

    /** {@return the requested number of endpoints that share a receive context, 0 for the provider's preference} */
    public long sharedReceiveContexts() {
        return sharedReceiveContexts;
    }

    /** {@return the requested number of authorization keys of an endpoint, 0 for the provider's preference} */
    public long authorizationKeysPerEndpoint() {
        return authorizationKeysPerEndpoint;
    }

    /** {@return the requested largest group number, 0 for the provider's preference} */
    public long maximumGroupId() {
        return maximumGroupId;
    }

    /** {@return the requested capabilities of the transmit side} */
    public Set<Capability> transmitCapabilities() {
        return transmitCapabilities;
    }

    /** {@return the requested capabilities of the receive side} */
    public Set<Capability> receiveCapabilities() {
        return receiveCapabilities;
    }

    /** {@return the requested wire protocol} */
    public Protocol protocol() { return protocol; }

    /** {@return the requested version of the wire protocol, 0 for the provider's preference} */
    public int protocolVersion() {
        return protocolVersion;
    }

    /** {@return a copy of the authorization key, of no bytes if there is none} */
    public byte[] authorizationKey() {
        return authorizationKey.clone();
    }

    /** {@return the requests, as text; empty if there are none} */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        add(parts, addressVectorType != AddressVectorType.UNSPECIFIED, "address vector type " + addressVectorType);
        add(parts, resourceManagement != ResourceManagement.UNSPECIFIED, "resource management " + resourceManagement);
        add(parts, !trafficClass.equals(TrafficClass.UNSPECIFIED), "traffic class " + trafficClass);
        add(parts, !messageOrder.isEmpty(), "message order " + messageOrder);
        add(parts, !completionOrder.isEmpty(), "completion order " + completionOrder);
        add(parts, transmitSize != 0, "transmit size " + transmitSize);
        add(parts, receiveSize != 0, "receive size " + receiveSize);
        add(parts, injectSize != 0, "inject size " + injectSize);
        add(parts, completionDataSize != 0, "completion data size " + completionDataSize);
        add(parts, tagFormat != 0, "tag format 0x" + Long.toHexString(tagFormat));
        addContexts(parts, transmitContexts, "transmit context");
        addContexts(parts, receiveContexts, "receive context");
        add(parts, !transmitCapabilities.isEmpty(), "transmit capabilities " + transmitCapabilities);
        add(parts, !receiveCapabilities.isEmpty(), "receive capabilities " + receiveCapabilities);
        add(parts, protocol != Protocol.UNSPECIFIED, "protocol " + protocol);
        add(parts, protocolVersion != 0, "protocol version " + protocolVersion);
        add(parts, transmitIovLimit != 0, "transmit iov limit " + transmitIovLimit);
        add(parts, rmaIovLimit != 0, "RMA iov limit " + rmaIovLimit);
        add(parts, receiveIovLimit != 0, "receive iov limit " + receiveIovLimit);
        add(parts, bufferedReceiveSize != 0, "buffered receive size " + bufferedReceiveSize);
        add(parts, maximumMessageSize != 0, "maximum message size " + maximumMessageSize);
        add(parts, maximumOrderReadAfterWrite != 0,
                "maximum order of reads after writes " + maximumOrderReadAfterWrite);
        add(parts, maximumOrderWriteAfterRead != 0,
                "maximum order of writes after reads " + maximumOrderWriteAfterRead);
        add(parts, maximumOrderWriteAfterWrite != 0,
                "maximum order of writes after writes " + maximumOrderWriteAfterWrite);
        add(parts, keySize != 0, "key size " + keySize);
        add(parts, completionQueues != 0, "completion queues " + completionQueues);
        add(parts, endpoints != 0, "endpoints " + endpoints);
        add(parts, counters != 0, "counters " + counters);
        add(parts, memoryRegions != 0, "memory regions " + memoryRegions);
        add(parts, memoryRegionIovLimit != 0, "memory region iov limit " + memoryRegionIovLimit);
        add(parts, errorDataSize != 0, "error data size " + errorDataSize);
        add(parts, domainTransmitContexts != 0, "transmit contexts of the domain " + domainTransmitContexts);
        add(parts, domainReceiveContexts != 0, "receive contexts of the domain " + domainReceiveContexts);
        add(parts, transmitContextsPerEndpoint != 0, "transmit contexts per endpoint " + transmitContextsPerEndpoint);
        add(parts, receiveContextsPerEndpoint != 0, "receive contexts per endpoint " + receiveContextsPerEndpoint);
        add(parts, sharedTransmitContexts != 0, "sharers of a transmit context " + sharedTransmitContexts);
        add(parts, sharedReceiveContexts != 0, "sharers of a receive context " + sharedReceiveContexts);
        add(parts, authorizationKeysPerEndpoint != 0,
                "authorization keys per endpoint " + authorizationKeysPerEndpoint);
        add(parts, maximumGroupId != 0, "maximum group id " + maximumGroupId);
        add(parts, authorizationKey.length > 0, "authorization key of " + authorizationKey.length + " bytes");
        return String.join(", ", parts);
    }

    private static void addContexts(List<String> parts, long count, String what) {
        boolean shared = count == EndpointAttributes.SHARED_CONTEXT;
        add(parts, count != 0, shared ? "a shared " + what : count + " " + what + "s");
    }

    static void add(List<String> parts, boolean isAskedFor, String part) { if (isAskedFor) { parts.add(part); } }
}
