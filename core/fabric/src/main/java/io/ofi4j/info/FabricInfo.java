package io.ofi4j.info;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One combination of a provider, a network and a device, as {@link io.ofi4j.Libfabric#info} found it; {@code struct
 * fi_info}, fi_getinfo(3). It is an immutable copy that need not be closed.
 *
 * <p>ofi4j takes only infos of its own: each method that is given another implementation throws
 * {@link IllegalArgumentException}. A program may implement it to test how it chooses among infos.
 */
public interface FabricInfo {

    /** {@return the provider's name; a semicolon separates it from a provider layered on it} */
    String provider();

    /** {@return the names of the hooking providers that libfabric was told to put before it, see {@link Hook}} */
    List<String> hooks();

    /** {@return the capabilities of its endpoints} */
    Set<Capability> capabilities();

    /** {@return the capability bits, including those unknown to ofi4j} */
    long capabilityBits();

    /** {@return what the provider demands of the application, mode bits of fi_getinfo(3); ofi4j meets them} */
    long modeBits();

    /** {@return the format of its addresses} */
    AddressFormat addressFormat();

    /** {@return libfabric's name of the format, also of one that this release does not know: {@code SOCKADDR_IN}} */
    String addressFormatName();

    /** {@return the local address of its endpoints; empty if none was requested} */
    Optional<EndpointAddress> sourceAddress();

    /** {@return the requested destination, to connect to or to insert; empty if none was requested} */
    Optional<EndpointAddress> destinationAddress();

    /**
     * {@return a copy for endpoints that will connect to this address} A provider that resolves the route when an
     * endpoint is opened needs it.
     *
     * @param address the address of a passive endpoint
     * @throws IllegalArgumentException if the address has another format than the provider's
     */
    FabricInfo withDestination(EndpointAddress address);

    /**
     * {@return the address of an endpoint with this name, to give to an endpoint of a provider with named endpoints or
     * to insert as its peer}
     *
     * @param name up to 200 letters, digits, dots, hyphens and underscores; unique among the endpoints of this machine
     * @throws IllegalArgumentException if the name has other characters or begins with a dot, or is too long
     * @throws UnsupportedOperationException if the provider has no named endpoints
     */
    EndpointAddress addressNamed(String name);

    /**
     * {@return whether a completion queue can have this wait object} libfabric has no call that answers this: the
     * method opens a fabric, a domain and a queue, and closes them. Call it once, and not on the data path.
     *
     * @throws io.ofi4j.errors.FabricException if the provider cannot open the domain, or this process has no file
     *        descriptor or memory left
     */
    boolean supports(WaitObject object);

    /** {@return the name of the wire protocol, such as {@code RXM}} */
    String protocolName();

    /** {@return the attributes of outgoing operations} */
    TransmitAttributes transmit();

    /** {@return the attributes of incoming operations} */
    ReceiveAttributes receive();

    /** {@return the attributes of its endpoints} */
    EndpointAttributes endpoint();

    /** {@return the attributes of its domain} */
    DomainAttributes domain();

    /** {@return the attributes of its fabric} */
    FabricAttributes fabric();

    /** {@return the network device; empty if the provider does not report one; fi_nic(3)} */
    Optional<NetworkDevice> device();

    /** {@return libfabric's description of it, several lines; fi_tostr, fi_fabric(3)} */
    String details();

    /** {@return the behaviours of its provider that ofi4j works around, including those that are off here} */
    List<ProviderQuirk> quirks();
}
