package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ProviderQuirk;
import io.ofi4j.info.Version;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.rxm.RxmQuirks;
import io.ofi4j.internal.quirks.shm.ShmQuirks;
import io.ofi4j.internal.quirks.tcp.TcpQuirks;
import io.ofi4j.internal.quirks.verbs.VerbsQuirks;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The seam for providers: what is known of one provider in one version of libfabric, and the hooks that work around it.
 * Chosen once for each info, by the only code in core that looks at a provider's name or compares libfabric's version.
 */
public final class Quirks {
    /** Which quirks are on: {@code none}, or their names with commas between them. Not set, all that apply are. */
    public static final String PROPERTY = "io.ofi4j.quirks";

    private static final List<Quirk> KNOWN = Stream
            .of(ShmQuirks.ALL, TcpQuirks.ALL, RxmQuirks.ALL, VerbsQuirks.ALL, OtherQuirks.ALL).flatMap(List::stream)
            .toList();
    private static final Set<String> WANTED = wanted(System.getProperty(PROPERTY));

    /** Upstream's commit 898f50ac8, in 1.16, mended it. */
    private static final VersionRange HIDE_WITHOUT_DEVICE_MEMORY = VersionRange.from(1, 15).to(1, 15);

    private final Provider provider;
    private final List<Quirk> active;
    private final Set<Fact> facts;

    private Quirks(Provider provider, List<Quirk> active, Set<Fact> facts) {
        this.provider = provider;
        this.active = active;
        this.facts = Collections.unmodifiableSet(facts);
    }

    /** {@return what is known of a provider, and the quirks of it that are on} */
    public static Quirks of(Provider provider) {
        List<Quirk> active = KNOWN.stream().filter(quirk -> quirk.appliesTo(provider))
                .filter(quirk -> WANTED == null || WANTED.contains(quirk.name())).toList();
        Set<Fact> facts = Fact.ofTestedProvider(provider);
        active.forEach(quirk -> quirk.addFacts(facts));
        return new Quirks(provider, active, facts);
    }

    /** {@return the quirks of a provider, whether they are on or not} */
    public static List<ProviderQuirk> describe(Provider provider) {
        List<Quirk> active = of(provider).active;
        return KNOWN.stream().filter(quirk -> quirk.isOfProvider(provider))
                .map(quirk -> quirk.description(active.contains(quirk))).toList();
    }

    /** {@return all quirks, whether they are on or not} */
    public static List<Quirk> known() { return KNOWN; }

    /** Null where all are wanted. */
    private static Set<String> wanted(String property) {
        if (property == null) { return null; }
        return property.equals("none") ? Set.of() : Set.copyOf(List.of(property.split(",")));
    }

    /**
     * Checks the system property {@value #PROPERTY}.
     *
     * @throws IllegalArgumentException if it names a quirk that there is not
     */
    public static void requireKnownNames() {
        if (WANTED == null) { return; }
        List<String> names = KNOWN.stream().map(Quirk::name).sorted().toList();
        WANTED.stream().filter(name -> !names.contains(name)).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException("the system property " + PROPERTY + " names the quirk '" + name
                    + "', which does not exist: write none, or some of " + String.join(",", names));
        });
    }

    /**
     * {@return whether fi_getinfo leaves providers out where hints have neither capabilities nor the mode of device
     * memory} The answer does not depend on which quirks are on: a C program, too, would ask again.
     */
    public static boolean hideWithoutDeviceMemory(Version libfabric) {
        return HIDE_WITHOUT_DEVICE_MEMORY.contains(libfabric);
    }

    /** {@return the quirks that are on} */
    List<Quirk> active() { return active; }

    /** {@return whether this is known of the provider} */
    public boolean has(Fact fact) { return facts.contains(fact); }

    /**
     * Throws the refusal of a fact, if the fact is known of the provider.
     *
     * @throws UnsupportedOperationException if it is known
     */
    public void require(Fact fact) { require(refusal(fact)); }

    /**
     * As {@link #require(Fact)}, with what {@link #refusal} has returned, which the data path keeps in a final field.
     */
    public static void require(String refusal) {
        if (refusal != null) { throw new UnsupportedOperationException(refusal); }
    }

    /**
     * {@return the first of these facts that is known of the provider, in words for an exception; null where none is}
     */
    public String refusal(Fact... any) {
        return Stream.of(any).filter(this::has).map(fact -> fact.refusal().of(provider)).findFirst().orElse(null);
    }

    /** {@return all that is known of the provider} */
    Set<Fact> facts() { return facts; }

    /** Changes a value by each quirk in turn; where the value is a call, the last quirk is the outermost. */
    private <T> T compose(T plain, BiFunction<Quirk, T, T> quirks) {
        T value = plain;
        for (Quirk quirk : active) {
            value = quirks.apply(quirk, value);
        }
        return value;
    }

    /** As {@link Quirk#beforeDomain}, like the other hooks below. */
    public void beforeDomain(Provider provider) {
        if (provider.dataProgress() == ProgressModel.AUTO) { require(Fact.AUTOMATIC_PROGRESS_CRASHES); }
        int begun = 0;
        try {
            for (Quirk quirk : active) {
                quirk.beforeDomain(provider);
                begun++;
            }
        } catch (Throwable t) {
            active.subList(0, begun).forEach(Quirk::domainClosed);
            throw t;
        }
    }

    /** After {@link #beforeDomain}, once. */
    public void domainClosed() { active.forEach(Quirk::domainClosed); }

    /** {@return a name for an endpoint in place of the provider's, or null} */
    public EndpointAddress anotherName(Supplier<EndpointAddress> address) {
        return active.stream().map(quirk -> quirk.anotherName(address)).filter(Objects::nonNull).findFirst()
                .orElse(null);
    }

    public int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize, IntSupplier enable) {
        return compose(enable, (quirk, inner) -> () -> quirk.enable(address, transmitSize, receiveSize, inner))
                .getAsInt();
    }

    public void enabled(EndpointView endpoint) { active.forEach(quirk -> quirk.enabled(endpoint)); }

    public Quirk.CloseTime beforeClose(EndpointView endpoint) {
        return active.stream().map(quirk -> quirk.beforeClose(endpoint)).max(Comparator.naturalOrder())
                .orElse(Quirk.CloseTime.NOW);
    }

    public int close(EndpointView endpoint, IntSupplier close) {
        return compose(close, (quirk, inner) -> () -> quirk.close(endpoint, inner)).getAsInt();
    }

    public void closed(EndpointView endpoint) { active.forEach(quirk -> quirk.closed(endpoint)); }

    public void beforeJoin(EndpointAddress group, List<EndpointAddress> joined) {
        active.forEach(quirk -> quirk.beforeJoin(group, joined));
    }

    public <P> P insert(EndpointAddress address, VectorView vector, Supplier<P> insertion, Consumer<P> refusal) {
        Supplier<P> checked = () -> {
            active.forEach(quirk -> quirk.beforeInsert(address));
            return insertion.get();
        };
        return compose(checked, (quirk, inner) -> () -> quirk.insert(address, vector, inner, refusal)).get();
    }

    /** {@return the address to pass to the provider} */
    public byte[] nativeAddress(EndpointAddress address) {
        return active.stream().map(quirk -> quirk.nativeAddress(address)).filter(Objects::nonNull).findFirst()
                .orElseGet(address::toBytes);
    }

    /** {@return an address to insert before the first one, or null} */
    public byte[] placeholder(EndpointAddress first) {
        return active.stream().map(quirk -> quirk.placeholder(first)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** {@return what bounds the slots of a new address vector, or null} */
    public PeerSlots peerSlots() {
        return active.stream().map(Quirk::peerSlots).filter(Objects::nonNull).findFirst().orElse(null);
    }

    public long vectorCount(long expected) { return compose(expected, Quirk::vectorCount); }

    public int removePeer(Handle vector, EndpointAddress address, long fabricAddress) {
        IntSupplier removal = () -> AvOps.fi_av_remove(vector, fabricAddress);
        return compose(removal, (quirk, inner) -> () -> quirk.removePeer(vector, address, inner)).getAsInt();
    }

    public void vectorClosed(VectorView vector) { active.forEach(quirk -> quirk.vectorClosed(vector)); }
}
