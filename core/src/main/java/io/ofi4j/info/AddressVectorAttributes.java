package io.ofi4j.info;

import io.ofi4j.AddressVector;
import java.util.Objects;
import java.util.Optional;

/**
 * How an address vector is opened; {@code struct fi_av_attr}, fi_av(3). Immutable: each method gives a changed copy.
 *
 * <pre>{@code
 * AddressVectorAttributes.defaults().type(AddressVectorType.TABLE).count(1024)
 * }</pre>
 */
public final class AddressVectorAttributes implements Cloneable {
    /** No provider has more. */
    private static final int MAXIMUM_CONTEXT_BITS = 16;
    private static final long MAXIMUM_COUNT = 1 << 24;
    private static final int MAXIMUM_NAME_LENGTH = 200;

    private AddressVectorType type = AddressVectorType.UNSPECIFIED;
    private long count;
    private long endpointsPerNode;
    private int receiveContextBits;
    private String name;
    private boolean readOnly;

    private AddressVectorAttributes() {
    }

    /** {@return the provider's preferences, and a vector of this process alone} */
    public static AddressVectorAttributes defaults() {
        return new AddressVectorAttributes();
    }

    /**
     * {@return a copy of that type}
     *
     * @param wanted how peers are numbered
     * @throws IllegalArgumentException if it is {@link AddressVectorType#OTHER}
     */
    public AddressVectorAttributes type(AddressVectorType wanted) {
        if (wanted == AddressVectorType.OTHER) {
            throw new IllegalArgumentException("name a type of address vector, not OTHER");
        }
        AddressVectorAttributes copy = copy();
        copy.type = Objects.requireNonNull(wanted);
        return copy;
    }

    /**
     * {@return a copy that expects so many addresses; more can be inserted, unless the vector is shared}
     *
     * @param addresses how many, from 0, which leaves it to the provider, to 16,777,216
     * @throws IllegalArgumentException if it is out of range
     */
    public AddressVectorAttributes count(long addresses) {
        AddressVectorAttributes copy = copy();
        copy.count = requireCount(addresses, "addresses");
        return copy;
    }

    /**
     * {@return a copy that expects so many endpoints at each network address}
     *
     * @param endpoints how many, from 0 for unknown, to 16,777,216
     * @throws IllegalArgumentException if it is out of range
     */
    public AddressVectorAttributes endpointsPerNode(long endpoints) {
        AddressVectorAttributes copy = copy();
        copy.endpointsPerNode = requireCount(endpoints, "endpoints");
        return copy;
    }

    /**
     * {@return a copy whose peers' numbers leave so many bits for the number of a receive context}
     *
     * @param bits how many, from 0 to 16
     * @throws IllegalArgumentException if it is out of range
     */
    public AddressVectorAttributes receiveContextBits(int bits) {
        if (bits < 0 || bits > MAXIMUM_CONTEXT_BITS) {
            throw new IllegalArgumentException(
                    "receive contexts take 0 to " + MAXIMUM_CONTEXT_BITS + " bits, not " + bits);
        }
        AddressVectorAttributes copy = copy();
        copy.receiveContextBits = bits;
        return copy;
    }

    /**
     * {@return a copy that is shared with other processes of this machine; needs {@link Capability#SHARED_AV} of the domain,
     * and a {@link #count}, which cannot be exceeded} One process opens it so and fills it, others open it {@link #readOnly};
     * who opens it so a second time empties it.
     *
     * @param shared the vector's name, of letters, digits, dots, dashes and underscores, at most 200
     * @throws IllegalArgumentException if it is no such name
     */
    public AddressVectorAttributes name(String shared) {
        if (!shared.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0," + (MAXIMUM_NAME_LENGTH - 1) + "}")) {
            throw new IllegalArgumentException("the name of a shared address vector has letters, digits, dots, dashes "
                    + "and underscores, at most " + MAXIMUM_NAME_LENGTH + ", unlike '" + shared + "'");
        }
        AddressVectorAttributes copy = copy();
        copy.name = shared;
        return copy;
    }

    /** {@return a copy that only looks up what another process has inserted into the vector of that {@link #name(String)}} */
    public AddressVectorAttributes readOnly() {
        AddressVectorAttributes copy = copy();
        copy.readOnly = true;
        return copy;
    }

    private static long requireCount(long count, String what) {
        if (count < 0 || count > MAXIMUM_COUNT) {
            throw new IllegalArgumentException(
                    "an address vector expects 0 to " + MAXIMUM_COUNT + " " + what + ", not " + count);
        }
        return count;
    }

    /** {@return how peers are numbered} */
    public AddressVectorType type() {
        return type;
    }

    /** {@return how many addresses are expected, 0 where that is left to the provider} */
    public long count() {
        return count;
    }

    /** {@return how many endpoints are expected at each network address, 0 where that is not known} */
    public long endpointsPerNode() {
        return endpointsPerNode;
    }

    /** {@return how many bits of a peer's number are left for a receive context} */
    public int receiveContextBits() {
        return receiveContextBits;
    }

    /** {@return the name under which it is shared} */
    public Optional<String> name() {
        return Optional.ofNullable(name);
    }

    /** {@return whether it only looks up what another process has inserted} */
    public boolean isReadOnly() {
        return readOnly;
    }

    private AddressVectorAttributes copy() {
        try {
            return (AddressVectorAttributes) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
