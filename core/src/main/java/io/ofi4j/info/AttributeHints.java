package io.ofi4j.info;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * What is asked of a provider in the attributes of its domain and endpoints, beside {@link FabricHints}: limits that must be met,
 * and promises that it must make; fi_getinfo(3). Immutable: each method gives a changed copy.
 */
public final class AttributeHints implements Cloneable {
    private AddressVectorType addressVectorType = AddressVectorType.UNSPECIFIED;
    private ResourceManagement resourceManagement = ResourceManagement.UNSPECIFIED;
    private TrafficClass trafficClass = TrafficClass.UNSPECIFIED;
    private Set<MessageOrder> messageOrder = Set.of();
    private Set<CompletionOrder> completionOrder = Set.of();
    private long transmitSize;
    private long receiveSize;
    private long injectSize;

    private AttributeHints() {
    }

    /** {@return hints that ask for nothing} */
    public static AttributeHints none() {
        return new AttributeHints();
    }

    /**
     * {@return a copy that asks for this type of address vector}
     *
     * @param type how peers are numbered
     */
    public AttributeHints addressVectorType(AddressVectorType type) {
        AttributeHints copy = copy();
        copy.addressVectorType = Objects.requireNonNull(type);
        return copy;
    }

    /**
     * {@return a copy that asks for this resource management}
     *
     * @param management who guards queues against overrun
     */
    public AttributeHints resourceManagement(ResourceManagement management) {
        AttributeHints copy = copy();
        copy.resourceManagement = Objects.requireNonNull(management);
        return copy;
    }

    /**
     * {@return a copy that asks for this traffic class, of domain and endpoints}
     *
     * @param wanted what the network shall prefer
     */
    public AttributeHints trafficClass(TrafficClass wanted) {
        AttributeHints copy = copy();
        copy.trafficClass = Objects.requireNonNull(wanted);
        return copy;
    }

    /**
     * {@return a copy that asks for these orders of operations to one peer, and no longer for others}
     *
     * @param orders which order must be kept
     */
    public AttributeHints messageOrder(MessageOrder... orders) {
        AttributeHints copy = copy();
        Set<MessageOrder> set = EnumSet.noneOf(MessageOrder.class);
        set.addAll(List.of(orders));
        copy.messageOrder = set;
        return copy;
    }

    /**
     * {@return a copy that asks for these orders of completions, and no longer for others}
     *
     * @param orders which order must be kept
     */
    public AttributeHints completionOrder(CompletionOrder... orders) {
        AttributeHints copy = copy();
        Set<CompletionOrder> set = EnumSet.noneOf(CompletionOrder.class);
        set.addAll(List.of(orders));
        copy.completionOrder = set;
        return copy;
    }

    /**
     * {@return a copy whose endpoints must take so many operations at once}
     *
     * @param operations how many at least, 0 for what the provider prefers
     * @throws IllegalArgumentException if it is below 0
     */
    public AttributeHints transmitSize(long operations) {
        AttributeHints copy = copy();
        copy.transmitSize = requireSize(operations, "a transmit size");
        return copy;
    }

    /**
     * {@return a copy whose endpoints must take so many receives at once}
     *
     * @param operations how many at least, 0 for what the provider prefers
     * @throws IllegalArgumentException if it is below 0
     */
    public AttributeHints receiveSize(long operations) {
        AttributeHints copy = copy();
        copy.receiveSize = requireSize(operations, "a receive size");
        return copy;
    }

    /**
     * {@return a copy whose endpoints must inject so many bytes}
     *
     * @param bytes how many at least, 0 for what the provider prefers
     * @throws IllegalArgumentException if it is below 0
     */
    public AttributeHints injectSize(long bytes) {
        AttributeHints copy = copy();
        copy.injectSize = requireSize(bytes, "an inject size");
        return copy;
    }

    private static long requireSize(long size, String what) {
        if (size < 0) {
            throw new IllegalArgumentException(what + " is 0 or more, not " + size);
        }
        return size;
    }

    /** {@return the type of address vector that is asked for} */
    public AddressVectorType addressVectorType() {
        return addressVectorType;
    }

    /** {@return the resource management that is asked for} */
    public ResourceManagement resourceManagement() {
        return resourceManagement;
    }

    /** {@return the traffic class that is asked for} */
    public TrafficClass trafficClass() {
        return trafficClass;
    }

    /** {@return the orders of operations that are asked for} */
    public Set<MessageOrder> messageOrder() {
        return Set.copyOf(messageOrder);
    }

    /** {@return the orders of completions that are asked for} */
    public Set<CompletionOrder> completionOrder() {
        return Set.copyOf(completionOrder);
    }

    /** {@return how many operations endpoints must take at once, 0 for the provider's preference} */
    public long transmitSize() {
        return transmitSize;
    }

    /** {@return how many receives endpoints must take at once, 0 for the provider's preference} */
    public long receiveSize() {
        return receiveSize;
    }

    /** {@return how many bytes endpoints must inject, 0 for the provider's preference} */
    public long injectSize() {
        return injectSize;
    }

    boolean isEmpty() {
        return toString().isEmpty();
    }

    /** {@return what is asked for, or no text where nothing is} */
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
        return String.join(", ", parts);
    }

    private static void add(List<String> parts, boolean isAskedFor, String part) {
        if (isAskedFor) {
            parts.add(part);
        }
    }

    private AttributeHints copy() {
        try {
            return (AttributeHints) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
