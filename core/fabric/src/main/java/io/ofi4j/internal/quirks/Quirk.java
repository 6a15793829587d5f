package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ProviderQuirk;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.Handle;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * One behaviour of one provider, and what ofi4j does about it. It is on for a range of versions of libfabric: from the
 * first whose source has the behaviour to the last, and for those newer than the newest while main still has it.
 * Abbreviated commits in the comments of quirks are those of libfabric's repository.
 *
 * <p>The rule: a quirk may call libfabric, order, delay, reserve and refuse. It does not write memory, sockets, files
 * or function tables that ofi4j did not make, and it does not look into other processes. There are three exceptions,
 * which the notes on providers name: the functions that are replaced below {@code ofi_rxm}, the room that
 * {@code shm-room} reserves in a peer's file, and the file that nobody has open which it removes.
 *
 * <p>A quirk that only states facts is an object of this class; one that acts overrides some of the hooks, which do
 * otherwise what a plain C program does. Hooks are called by any thread.
 */
public class Quirk {
    private final String name;
    private final Predicate<Provider> providers;
    private final VersionRange versions;
    private final String upstream;
    private final String test;
    private final Set<Fact> facts = EnumSet.noneOf(Fact.class);

    /**
     * Describes a quirk.
     *
     * @param name its name, for the system property {@code io.ofi4j.quirks}
     * @param providers which providers have it
     * @param versions the versions of libfabric that have it
     * @param upstream what the provider does
     * @param test the test that shows it
     * @param facts what is known where it is on
     */
    public Quirk(String name, Predicate<Provider> providers, VersionRange versions, String upstream, String test,
            Fact... facts) {
        this.name = name;
        this.providers = providers;
        this.versions = versions;
        this.upstream = upstream;
        this.test = test;
        this.facts.addAll(Arrays.asList(facts));
    }

    /** {@return its name, for the system property {@code io.ofi4j.quirks}} */
    final String name() { return name; }

    final ProviderQuirk description(boolean isOn) { return new ProviderQuirk(name, upstream, test, versions, isOn); }

    /** Whether the provider has it, in some version. */
    final boolean isOfProvider(Provider provider) {
        return providers.test(provider);
    }

    final boolean appliesTo(Provider provider) {
        return isOfProvider(provider) && versions.contains(provider.libfabric());
    }

    /** Adds to what is known of a provider, or takes away. */
    protected void addFacts(Set<Fact> known) {
        known.addAll(facts);
    }

    /** Before a domain is opened; throws where it must not be. */
    protected void beforeDomain(Provider provider) {}

    /** After the provider has closed a domain, or has not opened it. */
    protected void domainClosed() {}

    /**
     * {@return the name of an endpoint that has none chosen for it, in place of the provider's; null where that may
     * stay}
     *
     * @param address gives what fi_getname says
     */
    protected EndpointAddress anotherName(Supplier<EndpointAddress> address) { return null; }

    /**
     * Has the provider enable an endpoint, while nobody uses its queues; throws where that must not be.
     *
     * @param address gives what fi_getname says before
     * @param enable enables it: a status
     * @return the status; below 0 where the endpoint must not be used
     */
    protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize, IntSupplier enable) {
        return enable.getAsInt();
    }

    /** After an endpoint was enabled and has its address. */
    protected void enabled(EndpointView endpoint) {}

    /** When the provider closes an endpoint. */
    public enum CloseTime {
        /** It closes it now. */
        NOW,
        /** {@link EndpointView#closePostponed} is called later. */
        LATER,
        /** Operations are in flight, and the close does not wait for them: it is tried again. */
        TRY_AGAIN
    }

    /** Before an endpoint is closed that takes no operations any more; again, after {@link CloseTime#TRY_AGAIN}. */
    protected CloseTime beforeClose(EndpointView endpoint) {
        return CloseTime.NOW;
    }

    /**
     * Has the provider close an endpoint that was enabled, while nobody uses its queues.
     *
     * @param close closes it: a status
     * @return the status
     */
    protected int close(EndpointView endpoint, IntSupplier close) { return close.getAsInt(); }

    /** After the provider has closed an endpoint. */
    protected void closed(EndpointView endpoint) {}

    /** Before an address is inserted; throws where it must not be. */
    protected void beforeInsert(EndpointAddress address) {}

    /**
     * Before an endpoint joins a multicast group; throws where it must not be.
     *
     * @param joined the groups that it is a member of
     */
    protected void beforeJoin(EndpointAddress group, List<EndpointAddress> joined) {}

    /** Inserts a peer, or refuses to. */
    protected <P> P insert(EndpointAddress address, VectorView vector, Supplier<P> insertion, Consumer<P> refusal) {
        return insertion.get();
    }

    /** {@return the address to pass to the provider instead of this one; null for the address itself} */
    protected byte[] nativeAddress(EndpointAddress address) {
        return null;
    }

    /**
     * {@return an address to insert before the first one, so that no peer gets the number 0; or null}
     *
     * @param first the first address
     */
    protected byte[] placeholder(EndpointAddress first) { return null; }

    /** {@return what bounds the slots of a new address vector, or null} */
    protected PeerSlots peerSlots() {
        return null;
    }

    /** {@return the count to open a new address vector with} */
    protected long vectorCount(long expected) {
        return expected;
    }

    /** {@return the status of a removal of a peer from a vector, which is fi_av_remove} */
    protected int removePeer(Handle vector, EndpointAddress address, IntSupplier removal) {
        return removal.getAsInt();
    }

    /** After an address vector was closed. */
    protected void vectorClosed(VectorView vector) {}

    @Override
    public final String toString() { return name; }
}
