package io.ofi4j.internal.engine;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.FabricAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.ProviderQuirk;
import io.ofi4j.info.ReceiveAttributes;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.info.Version;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.Attributes;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.NativeLibrary;
import io.ofi4j.internal.quirks.EndpointNames;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirks;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** A result of fi_getinfo(3): an info with its native struct and the quirks of its provider. */
public final class NativeFabricInfo implements FabricInfo {
    private final InfoHandle handle;
    private final Version runtime;
    private final TransmitAttributes transmit;
    private final ReceiveAttributes receive;
    private final EndpointAttributes endpoint;
    private final DomainAttributes domain;
    private final FabricAttributes fabric;
    /** Chosen once, on first use: most infos are only looked at. */
    private Quirks quirks;

    public NativeFabricInfo(InfoHandle handle, Version runtime) {
        this(handle, runtime, Attributes.transmit(handle), Attributes.receive(handle), Attributes.endpoint(handle),
                Attributes.domain(handle), Attributes.fabric(handle));
    }

    /** With attributes in place of those of the native struct. */
    public NativeFabricInfo(InfoHandle handle, Version runtime, TransmitAttributes transmit, ReceiveAttributes receive,
            EndpointAttributes endpoint, DomainAttributes domain, FabricAttributes fabric) {
        this.handle = handle;
        this.runtime = runtime;
        this.transmit = transmit;
        this.receive = receive;
        this.endpoint = endpoint;
        this.domain = domain;
        this.fabric = fabric;
    }

    public InfoHandle handle() { return handle; }

    public Version runtime() { return runtime; }

    @Override
    public TransmitAttributes transmit() { return transmit; }

    @Override
    public ReceiveAttributes receive() { return receive; }

    @Override
    public EndpointAttributes endpoint() { return endpoint; }

    @Override
    public DomainAttributes domain() { return domain; }

    @Override
    public FabricAttributes fabric() { return fabric; }

    /**
     * {@return an info as this implementation of its interface}
     *
     * @throws IllegalArgumentException if a program has implemented the interface: such an info has no native struct
     */
    public static NativeFabricInfo of(FabricInfo info) {
        if (Objects.requireNonNull(info, "info") instanceof NativeFabricInfo found) { return found; }
        throw new IllegalArgumentException("the info of " + info.getClass().getName()
                + " is not one of libfabric's: use those that Libfabric.info returns");
    }

    /**
     * {@return an info of the same fabric as the one that an object was opened with}
     *
     * @throws IllegalArgumentException if it is of another provider or fabric: its addresses may be longer than the
     *         provider's own
     */
    public static NativeFabricInfo requireSameFabric(FabricInfo info, FabricInfo opened) {
        NativeFabricInfo found = of(info);
        if (!found.provider().equals(opened.provider()) || !found.fabric.name().equals(opened.fabric().name())) {
            throw new IllegalArgumentException("the info of " + found.described() + " is not of the same fabric as "
                    + of(opened).described() + ": use the info that it was opened with, or another of its fabric");
        }
        return found;
    }

    /**
     * As {@link #requireSameFabric}. The info must also be of the same domain with the same models. It may have
     * collective operations only if the domain was opened with them, because a provider keeps them in the domain.
     */
    public static NativeFabricInfo requireSameDomain(FabricInfo info, FabricInfo opened) {
        NativeFabricInfo found = requireSameFabric(info, opened);
        if (!found.kind().equals(of(opened).kind())) {
            throw new IllegalArgumentException(
                    "the info of " + found.kind() + " is not of the domain that was opened with " + of(opened).kind()
                            + ": use that info, or another of the domain with the same models");
        }
        if ((info.capabilityBits() & ~opened.capabilityBits() & Capability.COLLECTIVE.bit()) != 0) {
            throw new IllegalArgumentException(
                    "the info has Capability.COLLECTIVE, and the domain was opened without it:"
                            + " open the domain with this info");
        }
        return found;
    }

    /** The values that an endpoint's info must share with its domain's info, as text. */
    private String kind() {
        boolean hasQueues = chosenQuirks().has(Fact.QUEUES_ARE_DOMAINS);
        return "domain " + domain.name() + ", threading " + domain.threading() + ", data progress "
                + domain.dataProgress() + (hasQueues ? ", endpoint type " + endpoint.type() : "");
    }

    private String described() { return "provider " + provider() + ", fabric " + fabric.name(); }

    /** {@return the same provider with another native struct} */
    public NativeFabricInfo with(InfoHandle other) {
        return new NativeFabricInfo(other, runtime);
    }

    public Provider identity() {
        return new Provider(provider(), runtime, endpoint.type(), domain.threading(), domain.dataProgress(),
                domain.name(), handle.deviceVendor());
    }

    /** {@return what is known of its provider} */
    public Quirks chosenQuirks() {
        Quirks chosen = quirks;
        if (chosen == null) {
            chosen = Quirks.of(identity());
            quirks = chosen; // another thread may do the same: they are values
        }
        return chosen;
    }

    @Override
    public String provider() { return fabric.provider(); }

    @Override
    public List<String> hooks() { return NativeLibrary.hooks(); }

    @Override
    public Set<Capability> capabilities() { return Capability.setOf(handle.capabilities(), runtime); }

    @Override
    public long capabilityBits() { return handle.capabilities(); }

    @Override
    public long modeBits() { return handle.mode(); }

    @Override
    public AddressFormat addressFormat() { return AddressFormat.of(handle.addressFormat()); }

    @Override
    public String addressFormatName() { return Attributes.addressFormatName(handle.addressFormat()); }

    @Override
    public Optional<EndpointAddress> sourceAddress() { return address(handle.sourceAddress()); }

    @Override
    public Optional<EndpointAddress> destinationAddress() { return address(handle.destinationAddress()); }

    @Override
    public FabricInfo withDestination(EndpointAddress address) {
        AddressFormats.require(this, address);
        return with(handle.withDestination(address.toBytes()));
    }

    @Override
    public EndpointAddress addressNamed(String name) { return EndpointNames.address(identity(), name); }

    @Override
    public boolean supports(WaitObject object) {
        return WaitObjectProbe.succeeds(this, Objects.requireNonNull(object, "object"));
    }

    private Optional<EndpointAddress> address(byte[] bytes) {
        return bytes.length == 0 ? Optional.empty() : Optional.of(EndpointAddress.of(bytes, addressFormat()));
    }

    @Override
    public String protocolName() { return Attributes.protocolName(Attributes.protocol(handle)); }

    @Override
    public Optional<NetworkDevice> device() { return Attributes.networkDevice(handle); }

    @Override
    public String details() { return handle.text(); }

    @Override
    public List<ProviderQuirk> quirks() { return Quirks.describe(identity()); }

    @Override
    public String toString() {
        return described() + ", domain " + domain.name() + ", endpoint type " + endpoint.type();
    }
}
