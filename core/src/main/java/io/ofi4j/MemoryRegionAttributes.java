package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What is to be registered, and how; {@code struct fi_mr_attr}, fi_mr(3). Immutable: every method returns a copy. Without more
 * being said, the key is chosen at random. For {@link Domain#register(MemoryRegionAttributes)}.
 *
 * <p>libfabric reserves the field {@code offset} and demands that it is 0, so it is not here: register a slice instead.
 */
public final class MemoryRegionAttributes implements Cloneable {
    private final List<MemorySegment> segments;
    private Set<Access> access = Set.of();
    private OptionalLong requestedKey = OptionalLong.empty();
    private Endpoint endpoint;
    private Counter counter;
    private boolean persistent;

    private MemoryRegionAttributes(List<MemorySegment> segments) {
        this.segments = segments;
    }

    /**
     * {@return attributes of a region of this memory}
     *
     * @param segments off-heap memory; several segments make one region with one descriptor, as many as
     *        {@link DomainAttributes#memoryRegionIovLimit} says, for local use; see {@link MemoryRegion#parts}
     * @throws IllegalArgumentException if there is none
     */
    public static MemoryRegionAttributes of(MemorySegment... segments) {
        return of(List.of(segments));
    }

    /**
     * {@return attributes of a region of this memory}
     *
     * @param segments off-heap memory; several segments make one region with one descriptor, as many as
     *        {@link DomainAttributes#memoryRegionIovLimit} says, for local use; see {@link MemoryRegion#parts}
     * @throws IllegalArgumentException if there is none
     */
    public static MemoryRegionAttributes of(List<MemorySegment> segments) {
        if (segments.isEmpty()) {
            throw new IllegalArgumentException("a memory region has at least one segment");
        }
        return new MemoryRegionAttributes(List.copyOf(segments));
    }

    /**
     * {@return a copy that grants these rights, and no longer others}
     *
     * @param rights what the region may be used for, at least one
     */
    public MemoryRegionAttributes access(Access... rights) {
        MemoryRegionAttributes copy = copy();
        Set<Access> set = EnumSet.noneOf(Access.class);
        set.addAll(List.of(rights));
        copy.access = set;
        return copy;
    }

    /**
     * {@return a copy that asks for this key, where the provider leaves keys to the application} Whoever can guess it can use
     * the region as its rights say.
     *
     * @param key as many bytes as {@link DomainAttributes#keySize} says
     * @throws IllegalArgumentException if it is -1, which libfabric uses for no key (FI_KEY_NOTAVAIL)
     */
    public MemoryRegionAttributes requestedKey(long key) {
        if (key == Registration.NO_KEY) {
            throw new IllegalArgumentException("-1 stands for no key (FI_KEY_NOTAVAIL): choose another");
        }
        MemoryRegionAttributes copy = copy();
        copy.requestedKey = OptionalLong.of(key);
        return copy;
    }

    /** {@return a copy whose key is chosen at random, or by the provider; so it is where nothing is said} */
    public MemoryRegionAttributes randomKey() {
        MemoryRegionAttributes copy = copy();
        copy.requestedKey = OptionalLong.empty();
        return copy;
    }

    /**
     * {@return a copy for persistent memory, whose writes {@link OperationFlag#COMMIT_COMPLETE} makes durable; FI_RMA_PMEM}
     * Needs {@link Capability#RMA_PMEM}.
     */
    public MemoryRegionAttributes persistent() {
        MemoryRegionAttributes copy = copy();
        copy.persistent = true;
        return copy;
    }

    /**
     * {@return a copy that names the endpoint which the region belongs to, where the provider demands one (FI_MR_ENDPOINT)}
     * Where nothing is said that is the endpoint of the domain which was enabled first, or will be. Other providers do not care.
     *
     * @param owner an endpoint of the same domain
     */
    public MemoryRegionAttributes endpoint(Endpoint owner) {
        MemoryRegionAttributes copy = copy();
        copy.endpoint = Objects.requireNonNull(owner);
        return copy;
    }

    /**
     * {@return a copy whose memory's writes by peers a counter counts; fi_mr_bind with FI_REMOTE_WRITE} Of the software
     * providers only {@code sockets} has that.
     *
     * @param openCounter a counter of the same domain, to be closed after the region
     */
    public MemoryRegionAttributes countedBy(Counter openCounter) {
        MemoryRegionAttributes copy = copy();
        copy.counter = Objects.requireNonNull(openCounter);
        return copy;
    }

    /** {@return the counter of writes by peers, or nothing} */
    public Optional<Counter> counter() {
        return Optional.ofNullable(counter);
    }

    /** {@return the memory} */
    public List<MemorySegment> segments() {
        return segments;
    }

    /** {@return the rights that are granted} */
    public Set<Access> access() {
        return access.isEmpty() ? Set.of() : EnumSet.copyOf(access);
    }

    /** {@return the key that is asked for; empty where it is random} */
    public OptionalLong requestedKey() {
        return requestedKey;
    }

    /** {@return whether it is persistent memory} */
    public boolean isPersistent() {
        return persistent;
    }

    /** {@return the endpoint that was named} */
    public Optional<Endpoint> endpoint() {
        return Optional.ofNullable(endpoint);
    }

    /** Without the key, which is a secret. */
    @Override
    public String toString() {
        return "MemoryRegionAttributes[" + segments.size() + " segments, access=" + access + "]";
    }

    private MemoryRegionAttributes copy() {
        try {
            return (MemoryRegionAttributes) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
