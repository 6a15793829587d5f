package io.ofi4j.info;

import java.util.Objects;
import java.util.Optional;

/**
 * How an address vector is opened; {@code struct fi_av_attr}, fi_av(3). Immutable: each method returns a changed copy,
 * and throws IllegalArgumentException if a value is out of range.
 *
 * <pre>{@code
 * AddressVectorAttributes.defaults().type(AddressVectorType.TABLE).count(1024)
 * }</pre>
 */
public final class AddressVectorAttributes extends Changeable<AddressVectorAttributes> {
    /** The largest number that any provider supports. */
    private static final int MAXIMUM_CONTEXT_BITS = 16;
    private static final long MAXIMUM_COUNT = 1 << 24;
    private static final int MAXIMUM_NAME_LENGTH = 200;

    private AddressVectorType type = AddressVectorType.UNSPECIFIED;
    private long count;
    private long endpointsPerNode;
    private int receiveContextBits;
    private String name;
    private boolean readOnly;
    private boolean symmetric;

    private AddressVectorAttributes() {}

    /** {@return the provider's preferences, for a vector that is not shared with other processes} */
    public static AddressVectorAttributes defaults() {
        return new AddressVectorAttributes();
    }

    /** {@return a copy with this type, which must not be {@link AddressVectorType#OTHER}} */
    public AddressVectorAttributes type(AddressVectorType wanted) {
        if (wanted == AddressVectorType.OTHER) {
            throw new IllegalArgumentException("OTHER cannot be asked for: choose MAP, TABLE or UNSPECIFIED");
        }
        return with(copy -> copy.type = Objects.requireNonNull(wanted));
    }

    /**
     * {@return a copy with this expected number of addresses, 0 (the provider chooses) to 16,777,216} It limits a
     * shared vector; other vectors take more.
     */
    public AddressVectorAttributes count(long addresses) {
        return with(copy -> copy.count = requireCount(addresses, "addresses"));
    }

    /** {@return a copy with this expected number of endpoints per network address, 0 (unknown) to 16,777,216} */
    public AddressVectorAttributes endpointsPerNode(long endpoints) {
        return with(copy -> copy.endpointsPerNode = requireCount(endpoints, "endpoints"));
    }

    /**
     * {@return a copy that reserves this many bits of a peer's number, 0 to 16, for the number of a receive context}
     */
    public AddressVectorAttributes receiveContextBits(int bits) {
        if (bits < 0 || bits > MAXIMUM_CONTEXT_BITS) {
            throw new IllegalArgumentException(
                    "receive contexts take 0 to " + MAXIMUM_CONTEXT_BITS + " bits, not " + bits);
        }
        return with(copy -> copy.receiveContextBits = bits);
    }

    /**
     * {@return a copy that is shared with other processes of this machine} It needs {@link Capability#SHARED_AV} of the
     * domain and a {@link #count}, which is then a hard limit. One process opens the vector with a name and fills it;
     * the other processes open it {@link #readOnly}. Opening it a second time without {@code readOnly} empties it.
     *
     * @param shared the vector's name: up to 200 letters, digits, dots, dashes and underscores
     */
    public AddressVectorAttributes name(String shared) {
        if (!shared.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0," + (MAXIMUM_NAME_LENGTH - 1) + "}")) {
            throw new IllegalArgumentException("the name of a shared address vector has at most " + MAXIMUM_NAME_LENGTH
                    + " letters, digits, dots, dashes and underscores, unlike '" + shared + "'");
        }
        return with(copy -> copy.name = shared);
    }

    /**
     * {@return a copy that only looks up what another process inserted into the vector of that {@link #name(String)}}
     */
    public AddressVectorAttributes readOnly() { return with(copy -> copy.readOnly = true); }

    /**
     * {@return a copy for jobs in which each node has the same number of endpoints, with the same transport addresses,
     * which follow each other; FI_SYMMETRIC, fi_av(3)} It is a hint, with which some providers need less memory.
     */
    public AddressVectorAttributes symmetric() { return with(copy -> copy.symmetric = true); }

    private static long requireCount(long count, String what) {
        if (count < 0 || count > MAXIMUM_COUNT) {
            throw new IllegalArgumentException(
                    "an address vector expects 0 to " + MAXIMUM_COUNT + " " + what + ", not " + count);
        }
        return count;
    }

    /** {@return how peers are numbered} */
    public AddressVectorType type() { return type; }

    /** {@return the expected number of addresses, 0 where the provider chooses} */
    public long count() { return count; }

    /** {@return the expected number of endpoints per network address, 0 if unknown} */
    public long endpointsPerNode() {
        return endpointsPerNode;
    }

    /** {@return the number of bits of a peer's number that are reserved for a receive context} */
    public int receiveContextBits() {
        return receiveContextBits;
    }

    /** {@return the name under which the vector is shared; empty if it is not shared} */
    public Optional<String> name() {
        return Optional.ofNullable(name);
    }

    /** {@return whether each node has the same number of endpoints, with the same transport addresses} */
    public boolean isSymmetric() {
        return symmetric;
    }

    /** {@return whether it only looks up what another process inserted} */
    public boolean isReadOnly() {
        return readOnly;
    }
}
