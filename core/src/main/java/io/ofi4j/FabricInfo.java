package io.ofi4j;

import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.Attributes;
import io.ofi4j.internal.InfoHandle;
import java.util.Optional;
import java.util.Set;

/**
 * One way to communicate that {@link Libfabric#info} found: a provider, on a network, through a device;
 * {@code struct fi_info}, fi_getinfo(3). An immutable copy that needs no closing.
 */
public final class FabricInfo {
    private final InfoHandle handle;
    private final Version runtime;
    private final TransmitAttributes transmit;
    private final ReceiveAttributes receive;
    private final EndpointAttributes endpoint;
    private final DomainAttributes domain;
    private final FabricAttributes fabric;

    FabricInfo(InfoHandle handle, Version runtime) {
        this.handle = handle;
        this.runtime = runtime;
        this.transmit = Attributes.transmit(handle);
        this.receive = Attributes.receive(handle);
        this.endpoint = Attributes.endpoint(handle);
        this.domain = Attributes.domain(handle);
        this.fabric = Attributes.fabric(handle);
    }

    InfoHandle handle() {
        return handle;
    }

    Version runtime() {
        return runtime;
    }

    /** What quirks are chosen by. */
    Provider identity() {
        return new Provider(provider(), runtime, endpoint.type(), domain.threading(), domain.dataProgress(),
                domain.name(), handle.deviceVendor());
    }

    /** {@return the provider's name, such as {@code shm} or {@code tcp;ofi_rxm}} */
    public String provider() {
        return fabric.provider();
    }

    /** {@return what an endpoint of it can do} */
    public Set<Capability> capabilities() {
        return Capability.setOf(handle.capabilities(), runtime);
    }

    /** {@return the capability bits, those that this library does not know included} */
    public long capabilityBits() {
        return handle.capabilities();
    }

    /** {@return what the provider demands of the application, as mode bits of fi_getinfo(3); met by this library} */
    public long modeBits() {
        return handle.mode();
    }

    /** {@return the kind of its addresses, an FI_* address format of fi_getinfo(3)} */
    public int addressFormat() {
        return handle.addressFormat();
    }

    /** {@return the name of that kind of address, such as {@code SOCKADDR_IN}} */
    public String addressFormatName() {
        return Attributes.addressFormatName(addressFormat());
    }

    /** {@return the local address that its endpoints have, if one was asked for} */
    public Optional<EndpointAddress> sourceAddress() {
        return address(handle.sourceAddress());
    }

    /** {@return the address that was asked for as the destination, if one was: what to connect to or insert} */
    public Optional<EndpointAddress> destinationAddress() {
        return address(handle.destinationAddress());
    }

    /**
     * {@return a copy for endpoints that will connect there} The verbs provider looks for the way when an endpoint is opened,
     * and not when it connects.
     *
     * @param address where the peer listens
     * @throws IllegalArgumentException if the address is none of this provider's
     */
    public FabricInfo withDestination(EndpointAddress address) {
        AddressFormats.require(this, address);
        return new FabricInfo(handle.withDestination(address.toBytes()), runtime);
    }

    private Optional<EndpointAddress> address(byte[] bytes) {
        return bytes.length == 0 ? Optional.empty() : Optional.of(EndpointAddress.of(bytes, addressFormat()));
    }

    /** {@return the name of the wire protocol, such as {@code RXM}} */
    public String protocolName() {
        return Attributes.protocolName(endpoint.protocol());
    }

    /** {@return what it offers for outgoing operations} */
    public TransmitAttributes transmit() {
        return transmit;
    }

    /** {@return what it offers for incoming operations} */
    public ReceiveAttributes receive() {
        return receive;
    }

    /** {@return what its endpoints are} */
    public EndpointAttributes endpoint() {
        return endpoint;
    }

    /** {@return what its domain is} */
    public DomainAttributes domain() {
        return domain;
    }

    /** {@return what its fabric is} */
    public FabricAttributes fabric() {
        return fabric;
    }

    /** {@return everything libfabric says about it, over many lines; fi_tostr, fi_fabric(3)} */
    public String details() {
        return handle.text();
    }

    @Override
    public String toString() {
        return "provider " + provider() + ", fabric " + fabric.name() + ", domain " + domain.name() + ", endpoint type "
                + endpoint.type();
    }
}
