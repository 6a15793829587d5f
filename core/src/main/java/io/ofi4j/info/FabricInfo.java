package io.ofi4j.info;

import io.ofi4j.Libfabric;
import io.ofi4j.internal.engine.FoundInfo;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One way to communicate that {@link Libfabric#info} found: a provider, on a network, through a device;
 * {@code struct fi_info}, fi_getinfo(3). An immutable copy that needs no closing.
 */
public sealed interface FabricInfo permits FoundInfo {

    /** {@return the provider's name, such as {@code shm} or {@code tcp;ofi_rxm}} */
    String provider();

    /** {@return what an endpoint of it can do} */
    Set<Capability> capabilities();

    /** {@return the capability bits, those that this library does not know included} */
    long capabilityBits();

    /** {@return what the provider demands of the application, as mode bits of fi_getinfo(3); met by this library} */
    long modeBits();

    /** {@return the kind of its addresses, an FI_* address format of fi_getinfo(3)} */
    int addressFormat();

    /** {@return the name of that kind of address, such as {@code SOCKADDR_IN}} */
    String addressFormatName();

    /** {@return the local address that its endpoints have, if one was asked for} */
    Optional<EndpointAddress> sourceAddress();

    /** {@return the address that was asked for as the destination, if one was: what to connect to or insert} */
    Optional<EndpointAddress> destinationAddress();

    /**
     * {@return a copy for endpoints that will connect there} The verbs provider looks for the way when an endpoint is opened,
     * and not when it connects.
     *
     * @param address where the peer listens
     * @throws IllegalArgumentException if the address is none of this provider's
     */
    FabricInfo withDestination(EndpointAddress address);

    /** {@return the name of the wire protocol, such as {@code RXM}} */
    String protocolName();

    /** {@return what it offers for outgoing operations} */
    TransmitAttributes transmit();

    /** {@return what it offers for incoming operations} */
    ReceiveAttributes receive();

    /** {@return what its endpoints are} */
    EndpointAttributes endpoint();

    /** {@return what its domain is} */
    DomainAttributes domain();

    /** {@return what its fabric is} */
    FabricAttributes fabric();

    /** {@return everything libfabric says about it, over many lines; fi_tostr, fi_fabric(3)} */
    String details();

    /** {@return the behaviours of its provider that this library works around, those that are off here included} */
    List<ProviderQuirk> quirks();
}
