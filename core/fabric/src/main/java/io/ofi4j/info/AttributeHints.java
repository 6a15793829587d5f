package io.ofi4j.info;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What a provider must offer in the attributes of its domain and endpoints, in addition to {@link FabricHints}: limits
 * and ordering guarantees; fi_getinfo(3). Immutable: each method returns a changed copy.
 */
public final class AttributeHints extends Changeable<AttributeHints> {
    private AddressVectorType addressVectorType = AddressVectorType.UNSPECIFIED;
    private ResourceManagement resourceManagement = ResourceManagement.UNSPECIFIED;
    private TrafficClass trafficClass = TrafficClass.UNSPECIFIED;
    private Set<MessageOrder> messageOrder = Set.of();
    private Set<CompletionOrder> completionOrder = Set.of();
    private EnumMap<Limit, Long> limits = new EnumMap<>(Limit.class);
    private long tagFormat;
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

    /**
     * {@return a copy that asks for at least this much, in the unit of the limit}
     *
     * @param amount 0 for the provider's preference, or more
     * @throws IllegalArgumentException if it is negative, or a group's number that has more than 32 bits
     */
    public AttributeHints atLeast(Limit limit, long amount) {
        if (amount < 0) { throw new IllegalArgumentException(limit.text() + " is 0 or more, not " + amount); }
        if (limit == Limit.MAXIMUM_GROUP_ID && amount >>> Integer.SIZE != 0) {
            throw new IllegalArgumentException("a group number has 32 bits, and " + amount + " has more");
        }
        return limit(limit, amount);
    }

    private AttributeHints limit(Limit limit, long amount) {
        EnumMap<Limit, Long> changed = new EnumMap<>(limits);
        changed.put(limit, amount);
        return with(copy -> copy.limits = changed);
    }

    /** {@return a copy that asks for exactly these orders of operations to one peer} */
    public AttributeHints messageOrder(MessageOrder... orders) {
        return with(copy -> copy.messageOrder = Constants.subset(MessageOrder.class, List.of(orders)::contains));
    }

    /** {@return a copy that asks for exactly these orders of completions} */
    public AttributeHints completionOrder(CompletionOrder... orders) {
        return with(copy -> copy.completionOrder = Constants.subset(CompletionOrder.class, List.of(orders)::contains));
    }

    /**
     * {@return a copy whose endpoints match tags of at least this format; the mem_tag_format of fi_endpoint(3)} A
     * provider need not match bits above the highest bit that is set. Below it, groups of set bits and groups of
     * cleared bits are fields, of which a receive ignores all bits or none. 0 stands for the provider's preference.
     * {@link EndpointAttributes#tagFormat} is what was granted.
     */
    public AttributeHints tagFormat(long format) { return with(copy -> copy.tagFormat = format); }

    /** {@return a copy whose endpoints transmit through a shared context; FI_SHARED_CONTEXT, fi_endpoint(3)} */
    public AttributeHints sharedTransmitContext() {
        return limit(Limit.TRANSMIT_CONTEXTS, EndpointAttributes.SHARED_CONTEXT);
    }

    /** {@return a copy whose endpoints receive through a shared context; FI_SHARED_CONTEXT, fi_endpoint(3)} */
    public AttributeHints sharedReceiveContext() {
        return limit(Limit.RECEIVE_CONTEXTS, EndpointAttributes.SHARED_CONTEXT);
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

    /**
     * {@return the requested limit, 0 for the provider's preference; of contexts also
     * {@link EndpointAttributes#SHARED_CONTEXT} for a shared one}
     */
    public long limit(Limit limit) { return limits.getOrDefault(Objects.requireNonNull(limit, "limit"), 0L); }

    /** {@return the requested format of tags, 0 for the provider's preference} */
    public long tagFormat() {
        return tagFormat;
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
        limits.forEach((limit, amount) -> add(parts, amount != 0,
                amount == EndpointAttributes.SHARED_CONTEXT
                        ? "a shared " + limit.text().replaceFirst("s$", "")
                        : limit.text() + " " + amount));
        add(parts, tagFormat != 0, "tag format 0x" + Long.toHexString(tagFormat));
        add(parts, !transmitCapabilities.isEmpty(), "transmit capabilities " + transmitCapabilities);
        add(parts, !receiveCapabilities.isEmpty(), "receive capabilities " + receiveCapabilities);
        add(parts, protocol != Protocol.UNSPECIFIED, "protocol " + protocol);
        add(parts, protocolVersion != 0, "protocol version " + protocolVersion);
        add(parts, authorizationKey.length > 0, "authorization key of " + authorizationKey.length + " bytes");
        return String.join(", ", parts);
    }

    static void add(List<String> parts, boolean isAskedFor, String part) { if (isAskedFor) { parts.add(part); } }
}
