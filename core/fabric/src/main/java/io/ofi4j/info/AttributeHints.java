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

    /** {@return the requests, as text; empty if there are none} */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        add(parts, addressVectorType != AddressVectorType.UNSPECIFIED, "address vector type " + addressVectorType);
        add(parts, resourceManagement != ResourceManagement.UNSPECIFIED, "resource management " + resourceManagement);
        add(parts, trafficClass != TrafficClass.UNSPECIFIED, "traffic class " + trafficClass);
        add(parts, !messageOrder.isEmpty(), "message order " + messageOrder);
        add(parts, !completionOrder.isEmpty(), "completion order " + completionOrder);
        add(parts, transmitSize != 0, "transmit size " + transmitSize);
        add(parts, receiveSize != 0, "receive size " + receiveSize);
        add(parts, injectSize != 0, "inject size " + injectSize);
        add(parts, completionDataSize != 0, "completion data size " + completionDataSize);
        add(parts, tagFormat != 0, "tag format 0x" + Long.toHexString(tagFormat));
        addContexts(parts, transmitContexts, "transmit context");
        addContexts(parts, receiveContexts, "receive context");
        return String.join(", ", parts);
    }

    private static void addContexts(List<String> parts, long count, String what) {
        boolean shared = count == EndpointAttributes.SHARED_CONTEXT;
        add(parts, count != 0, shared ? "a shared " + what : count + " " + what + "s");
    }

    static void add(List<String> parts, boolean isAskedFor, String part) { if (isAskedFor) { parts.add(part); } }
}
