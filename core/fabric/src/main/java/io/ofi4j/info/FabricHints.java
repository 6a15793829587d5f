package io.ofi4j.info;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What a provider must offer; the hints of fi_getinfo(3). Immutable: each method returns a changed copy. A name that is
 * empty or has a zero character throws IllegalArgumentException.
 *
 * <p>The defaults are {@link ThreadingModel#SAFE}, where threads may share everything, and the provider's own progress
 * model. A single-threaded program that polls is fastest with {@link ThreadingModel#DOMAIN}, with some providers
 * {@link ThreadingModel#COMPLETION}, and {@link ProgressModel#MANUAL}.
 */
public final class FabricHints extends Changeable<FabricHints> {
    private EndpointType endpointType = EndpointType.UNSPECIFIED;
    private Set<Capability> capabilities = Set.of();
    private Set<OperationFlag> operationFlags = Set.of();
    private ThreadingModel threading = ThreadingModel.SAFE;
    private ProgressModel controlProgress = ProgressModel.UNSPECIFIED;
    private ProgressModel dataProgress = ProgressModel.UNSPECIFIED;
    private String provider;
    private String fabric;
    private String domain;
    private Set<OperationFlag> receiveOperationFlags = Set.of();
    private AddressFormat addressFormat = AddressFormat.UNSPECIFIED;
    private String sourceNode;
    private String sourceService;
    private EndpointAddress sourceAddress;
    private String destinationNode;
    private String destinationService;
    private EndpointAddress destinationAddress;
    private boolean numericHost;
    private boolean rescan;
    private AttributeHints attributes = AttributeHints.none();

    private FabricHints() {}

    /** {@return hints that match every provider of this machine with {@link ThreadingModel#SAFE}} */
    public static FabricHints any() {
        return new FabricHints();
    }

    /** {@return hints for one-sided transfers between unconnected, reliable endpoints} */
    public static FabricHints rma() {
        return any().endpointType(EndpointType.RDM).capabilities(Capability.RMA);
    }

    /** {@return hints for messages between unconnected, reliable endpoints} */
    public static FabricHints messages() {
        return any().endpointType(EndpointType.RDM).capabilities(Capability.MSG);
    }

    /** {@return hints for datagrams: messages that may be lost, repeated or reordered, each of one packet at most} */
    public static FabricHints datagrams() {
        return any().endpointType(EndpointType.DGRAM).capabilities(Capability.MSG);
    }

    /** {@return hints for messages with tags between unconnected, reliable endpoints} */
    public static FabricHints tagged() {
        return any().endpointType(EndpointType.RDM).capabilities(Capability.TAGGED);
    }

    /** {@return hints for atomic operations, and one-sided transfers, between unconnected, reliable endpoints} */
    public static FabricHints atomics() {
        return rma().capabilities(Capability.RMA, Capability.ATOMIC);
    }

    /** {@return hints for libfabric's collective operations, and messages, between unconnected, reliable endpoints} */
    public static FabricHints collectives() {
        return any().endpointType(EndpointType.RDM).capabilities(Capability.MSG, Capability.COLLECTIVE);
    }

    /**
     * {@return hints for one-sided transfers over connections} The listening side adds {@link #source}, the connecting
     * side {@link #destination}.
     */
    public static FabricHints connected() {
        return any().endpointType(EndpointType.MSG).capabilities(Capability.RMA);
    }

    /** {@return a copy that asks for this kind of endpoint} */
    public FabricHints endpointType(EndpointType type) {
        return with(copy -> copy.endpointType = Objects.requireNonNull(type));
    }

    /** {@return a copy that asks for exactly these capabilities, in place of those that it has asked for} */
    public FabricHints capabilities(Capability... wanted) {
        return with(copy -> copy.capabilities = Constants.subset(Capability.class, List.of(wanted)::contains));
    }

    /** {@return a copy that asks for these capabilities in addition to those that it has asked for} */
    public FabricHints addCapabilities(Capability... more) {
        return with(copy -> copy.capabilities = Constants.subset(Capability.class,
                one -> capabilities.contains(one) || List.of(more).contains(one)));
    }

    /**
     * {@return a copy with exactly these flags as the default of every operation; the op_flags of fi_endpoint(3)} A
     * prepared operation such as {@link io.ofi4j.PreparedRma}, posted with {@link io.ofi4j.PreparedRma#write} or
     * {@link io.ofi4j.PreparedRma#read}, uses its own flags instead.
     *
     * @param everyOne the flags
     * @throws IllegalArgumentException if a flag cannot be a default, see {@link OperationFlag#canBeDefault}
     */
    public FabricHints operationFlags(OperationFlag... everyOne) {
        for (OperationFlag flag : everyOne) {
            if (!flag.canBeDefault()) {
                throw new IllegalArgumentException(
                        flag + " cannot be a default: set it for single operations, with PreparedRma.flags");
            }
        }
        return with(copy -> copy.operationFlags = Constants.subset(OperationFlag.class, List.of(everyOne)::contains));
    }

    /**
     * {@return a copy with exactly these flags as the default of every receive; the op_flags of struct fi_rx_attr,
     * fi_endpoint(3)}
     *
     * @param everyOne only {@link OperationFlag#COMPLETION}, or none
     * @throws IllegalArgumentException if there is another flag, which would mean nothing for a receive
     */
    public FabricHints receiveOperationFlags(OperationFlag... everyOne) {
        for (OperationFlag flag : everyOne) {
            if (flag != OperationFlag.COMPLETION) {
                throw new IllegalArgumentException(
                        flag + " cannot be a default of receives: only OperationFlag.COMPLETION can");
            }
        }
        return with(copy -> copy.receiveOperationFlags = Constants.subset(OperationFlag.class,
                List.of(everyOne)::contains));
    }

    /**
     * {@return a copy that asks for the provider of this name, one of {@link io.ofi4j.Libfabric#providers}} libfabric
     * may offer another provider on top of it: {@code tcp} with unconnected endpoints finds {@code tcp;ofi_rxm} alone
     * before libfabric 1.18, where {@code tcp} itself has connected ones only, and since then {@code tcp} first and
     * {@code tcp;ofi_rxm} after it. {@link FabricInfo#provider} says which one an info is of. The name {@code
     * tcp;ofi_rxm} finds that one alone. For {@code tcp} alone, ask for {@code tcp} and choose the infos whose provider
     * has this name.
     *
     * @param name the name
     */
    public FabricHints provider(String name) { return with(copy -> copy.provider = requireText(name, "provider")); }

    /** {@return a copy that asks for this fabric: a network, as {@link FabricAttributes#name} names it} */
    public FabricHints fabric(String name) {
        return with(copy -> copy.fabric = requireText(name, "fabric"));
    }

    /**
     * {@return a copy that asks for this domain: a device or network interface, as {@link DomainAttributes#name} names
     * it}
     */
    public FabricHints domain(String name) { return with(copy -> copy.domain = requireText(name, "domain")); }

    /** {@return a copy that asks for this threading model} */
    public FabricHints threading(ThreadingModel model) {
        return with(copy -> copy.threading = Objects.requireNonNull(model));
    }

    /** {@return a copy that asks for this progress model of connections and other control operations} */
    public FabricHints controlProgress(ProgressModel model) {
        return with(copy -> copy.controlProgress = Objects.requireNonNull(model));
    }

    /** {@return a copy that asks for this progress model of data transfers} */
    public FabricHints dataProgress(ProgressModel model) {
        return with(copy -> copy.dataProgress = Objects.requireNonNull(model));
    }

    /**
     * {@return a copy whose endpoints have this local address; FI_SOURCE of fi_getinfo(3)} A {@link #destination}
     * stays.
     *
     * @param node a host name or address of this machine, or null for any; an IPv6 address may be in brackets
     * @param service a port or service name, or null for any
     */
    public FabricHints source(String node, String service) {
        return with(copy -> {
            copy.sourceNode = node == null ? null : withoutBrackets(requireText(node, "node"));
            copy.sourceService = service == null ? null : requireText(service, "service");
            copy.sourceAddress = null;
        });
    }

    /**
     * {@return a copy whose endpoints have this local address; the src_addr of fi_getinfo(3)} It looks nothing up, and
     * asks for the address's format too. A {@link #destination} stays.
     */
    public FabricHints source(EndpointAddress address) {
        return with(copy -> {
            copy.sourceAddress = Objects.requireNonNull(address);
            copy.sourceNode = null;
            copy.sourceService = null;
        });
    }

    /**
     * {@return a copy whose endpoints can reach this address; fi_getinfo(3)} A {@link #source} stays.
     *
     * @param node a host name or address; an IPv6 address may be in brackets
     * @param service a port or service name, or null for any
     */
    public FabricHints destination(String node, String service) {
        return with(copy -> {
            copy.destinationNode = withoutBrackets(requireText(node, "node"));
            copy.destinationService = service == null ? null : requireText(service, "service");
            copy.destinationAddress = null;
        });
    }

    /**
     * {@return a copy whose endpoints can reach this address; the dest_addr of fi_getinfo(3)} It looks nothing up, and
     * asks for the address's format too. A {@link #source} stays.
     */
    public FabricHints destination(EndpointAddress address) {
        return with(copy -> {
            copy.destinationAddress = Objects.requireNonNull(address);
            copy.destinationNode = null;
            copy.destinationService = null;
        });
    }

    /**
     * {@return a copy that asks for this format of addresses; the addr_format of fi_getinfo(3)} It must not be
     * {@link AddressFormat#OTHER}.
     *
     * @throws IllegalArgumentException if it is
     */
    public FabricHints addressFormat(AddressFormat format) {
        if (format == AddressFormat.OTHER) {
            throw new IllegalArgumentException("OTHER cannot be asked for: choose a format, or UNSPECIFIED");
        }
        return with(copy -> copy.addressFormat = Objects.requireNonNull(format));
    }

    /**
     * {@return a copy whose hosts are numeric addresses, and are not looked up by name; FI_NUMERICHOST, fi_getinfo(3)}
     */
    public FabricHints numericHost() { return with(copy -> copy.numericHost = true); }

    /**
     * {@return a copy with which providers search for devices again, which may take long; FI_RESCAN, fi_getinfo(3)} It
     * needs libfabric 2.2 or newer: with an older one, a query with these hints throws
     * {@link UnsupportedOperationException}.
     */
    public FabricHints rescan() { return with(copy -> copy.rescan = true); }

    /** An address of IPv6 may be in brackets, as in front of a port. */
    private static String withoutBrackets(String text) {
        return text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
    }

    /** {@return a copy that asks for these attributes of domain and endpoints} */
    public FabricHints attributes(AttributeHints wanted) {
        return with(copy -> copy.attributes = Objects.requireNonNull(wanted));
    }

    /** {@return the requested attributes of domain and endpoints} */
    public AttributeHints attributes() {
        return attributes;
    }

    /** {@return the requested kind of endpoint} */
    public EndpointType endpointType() { return endpointType; }

    /** {@return the requested capabilities} */
    public Set<Capability> capabilities() {
        return capabilities.isEmpty() ? Set.of() : EnumSet.copyOf(capabilities);
    }

    /** {@return the default flags of every operation} */
    public Set<OperationFlag> operationFlags() {
        return operationFlags.isEmpty() ? Set.of() : EnumSet.copyOf(operationFlags);
    }

    /** {@return the requested threading model} */
    public ThreadingModel threading() { return threading; }

    /** {@return the requested progress model of control operations} */
    public ProgressModel controlProgress() {
        return controlProgress;
    }

    /** {@return the requested progress model of data transfers} */
    public ProgressModel dataProgress() {
        return dataProgress;
    }

    /** {@return the requested provider} */
    public Optional<String> provider() { return Optional.ofNullable(provider); }

    /** {@return the requested fabric} */
    public Optional<String> fabric() { return Optional.ofNullable(fabric); }

    /** {@return the requested domain} */
    public Optional<String> domain() { return Optional.ofNullable(domain); }

    /** {@return the default flags of every receive} */
    public Set<OperationFlag> receiveOperationFlags() {
        return receiveOperationFlags;
    }

    /** {@return the requested format of addresses} */
    public AddressFormat addressFormat() { return addressFormat; }

    /** {@return the requested local host} */
    public Optional<String> sourceNode() {
        return Optional.ofNullable(sourceNode);
    }

    /** {@return the requested local port or service} */
    public Optional<String> sourceService() {
        return Optional.ofNullable(sourceService);
    }

    /** {@return the requested local address} */
    public Optional<EndpointAddress> sourceAddress() {
        return Optional.ofNullable(sourceAddress);
    }

    /** {@return the requested remote host} */
    public Optional<String> destinationNode() {
        return Optional.ofNullable(destinationNode);
    }

    /** {@return the requested remote port or service} */
    public Optional<String> destinationService() {
        return Optional.ofNullable(destinationService);
    }

    /** {@return the requested remote address} */
    public Optional<EndpointAddress> destinationAddress() {
        return Optional.ofNullable(destinationAddress);
    }

    /** {@return whether hosts are numeric addresses} */
    public boolean isNumericHost() { return numericHost; }

    /** {@return whether providers search for devices again} */
    public boolean isRescan() { return rescan; }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        provider().ifPresent(name -> parts.add("provider " + name));
        fabric().ifPresent(name -> parts.add("fabric " + name));
        domain().ifPresent(name -> parts.add("domain " + name));
        AttributeHints.add(parts, endpointType != EndpointType.UNSPECIFIED, "endpoint type " + endpointType);
        AttributeHints.add(parts, !capabilities.isEmpty(), "capabilities " + capabilities);
        AttributeHints.add(parts, !operationFlags.isEmpty(), "operation flags " + operationFlags);
        AttributeHints.add(parts, !receiveOperationFlags.isEmpty(), "receive operation flags " + receiveOperationFlags);
        parts.add("threading " + threading);
        AttributeHints.add(parts, controlProgress != ProgressModel.UNSPECIFIED, "control progress " + controlProgress);
        AttributeHints.add(parts, dataProgress != ProgressModel.UNSPECIFIED, "data progress " + dataProgress);
        AttributeHints.add(parts, !attributes.toString().isEmpty(), attributes.toString());
        AttributeHints.add(parts, addressFormat != AddressFormat.UNSPECIFIED, "address format " + addressFormat);
        addAddress(parts, "source ", sourceNode, sourceService, sourceAddress);
        addAddress(parts, "destination ", destinationNode, destinationService, destinationAddress);
        AttributeHints.add(parts, numericHost, "numeric host");
        AttributeHints.add(parts, rescan, "rescan");
        return String.join(", ", parts);
    }

    private static void addAddress(List<String> parts, String what, String node, String service,
            EndpointAddress address) {
        if (address != null) {
            parts.add(what + address);
        } else if (node != null || service != null) {
            parts.add(what + (node == null ? "" : node) + (service == null ? "" : ":" + service));
        }
    }

    private static String requireText(String text, String what) {
        if (text.isEmpty() || text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the " + what + " must be a name, not '" + text + "'");
        }
        return text;
    }
}
