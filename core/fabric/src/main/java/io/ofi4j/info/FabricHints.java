package io.ofi4j.info;

import io.ofi4j.Libfabric;
import io.ofi4j.PreparedRma;
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
    private String node;
    private String service;
    private boolean source;
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

    /** {@return a copy that asks for exactly these capabilities} */
    public FabricHints capabilities(Capability... wanted) {
        return with(copy -> copy.capabilities = Constants.subset(Capability.class, List.of(wanted)::contains));
    }

    /**
     * {@return a copy with exactly these flags as the default of every operation; the op_flags of fi_endpoint(3)} A
     * prepared operation such as {@link PreparedRma}, posted with {@link PreparedRma#write} or
     * {@link PreparedRma#read}, uses its own flags instead.
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

    /** {@return a copy that asks for the provider of this name, one of {@link Libfabric#providers}} */
    public FabricHints provider(String name) {
        return with(copy -> copy.provider = requireText(name, "provider"));
    }

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
     * {@return a copy whose endpoints have this local address; FI_SOURCE of fi_getinfo(3)}
     *
     * @param node a host name or address of this machine, or null for any; an IPv6 address may be in brackets
     * @param service a port or service name, or null for any
     */
    public FabricHints source(String node, String service) { return address(node, service, true); }

    /**
     * {@return a copy whose endpoints can reach this address; fi_getinfo(3)}
     *
     * @param node a host name or address; an IPv6 address may be in brackets
     * @param service a port or service name, or null for any
     */
    public FabricHints destination(String node, String service) {
        return address(requireText(node, "node"), service, false);
    }

    /** An address of IPv6 may be in brackets, as in front of a port. */
    private static String withoutBrackets(String text) {
        return text.startsWith("[") && text.endsWith("]") ? text.substring(1, text.length() - 1) : text;
    }

    private FabricHints address(String newNode, String newService, boolean isSource) {
        return with(copy -> {
            copy.node = newNode == null ? null : withoutBrackets(requireText(newNode, "node"));
            copy.service = newService == null ? null : requireText(newService, "service");
            copy.source = isSource;
        });
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

    /** {@return the requested host, local or remote} */
    public Optional<String> node() {
        return Optional.ofNullable(node);
    }

    /** {@return the requested port or service, local or remote} */
    public Optional<String> service() {
        return Optional.ofNullable(service);
    }

    /** {@return whether node and service are local} */
    public boolean isSource() { return source; }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        provider().ifPresent(name -> parts.add("provider " + name));
        fabric().ifPresent(name -> parts.add("fabric " + name));
        domain().ifPresent(name -> parts.add("domain " + name));
        AttributeHints.add(parts, endpointType != EndpointType.UNSPECIFIED, "endpoint type " + endpointType);
        AttributeHints.add(parts, !capabilities.isEmpty(), "capabilities " + capabilities);
        AttributeHints.add(parts, !operationFlags.isEmpty(), "operation flags " + operationFlags);
        parts.add("threading " + threading);
        AttributeHints.add(parts, controlProgress != ProgressModel.UNSPECIFIED, "control progress " + controlProgress);
        AttributeHints.add(parts, dataProgress != ProgressModel.UNSPECIFIED, "data progress " + dataProgress);
        AttributeHints.add(parts, !attributes.toString().isEmpty(), attributes.toString());
        if (node != null || service != null) {
            parts.add((source ? "source " : "destination ") + (node == null ? "" : node)
                    + (service == null ? "" : ":" + service));
        }
        return String.join(", ", parts);
    }

    private static String requireText(String text, String what) {
        if (text.isEmpty() || text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the " + what + " must be a name, not '" + text + "'");
        }
        return text;
    }
}
