package io.ofi4j.info;

import io.ofi4j.Libfabric;
import io.ofi4j.RmaMessage;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What is asked of a provider; the hints of fi_getinfo(3). Immutable: every method returns a copy.
 *
 * <p>Without more being said: threads may share everything ({@link ThreadingModel#SAFE}) and the provider's own progress
 * model holds. A single-threaded program that polls is fastest with {@link ThreadingModel#DOMAIN} (on libfabric 2.x's
 * {@code tcp}: {@link ThreadingModel#COMPLETION}) and {@link ProgressModel#MANUAL}.
 */
public final class FabricHints implements Cloneable {
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

    private FabricHints() {
    }

    /** {@return hints that every provider of this machine matches which offers {@link ThreadingModel#SAFE}} */
    public static FabricHints any() {
        return new FabricHints();
    }

    /** {@return hints for one-sided transfers between unconnected, reliable endpoints} */
    public static FabricHints rma() {
        return any().endpointType(EndpointType.RDM).capabilities(Capability.RMA);
    }

    /**
     * {@return hints for one-sided transfers over connections} The listening side adds {@link #source}, the connecting side
     * {@link #destination}.
     */
    public static FabricHints connected() {
        return any().endpointType(EndpointType.MSG).capabilities(Capability.RMA);
    }

    /**
     * {@return a copy that asks for this kind of endpoint}
     *
     * @param type the kind
     */
    public FabricHints endpointType(EndpointType type) {
        FabricHints copy = copy();
        copy.endpointType = Objects.requireNonNull(type);
        return copy;
    }

    /**
     * {@return a copy that asks for these capabilities, and no longer for others}
     *
     * @param wanted what the endpoint must be able to do
     */
    public FabricHints capabilities(Capability... wanted) {
        FabricHints copy = copy();
        Set<Capability> set = EnumSet.noneOf(Capability.class);
        set.addAll(List.of(wanted));
        copy.capabilities = set;
        return copy;
    }

    /**
     * {@return a copy whose endpoints carry out every operation in this way, and no longer in others; the op_flags of
     * fi_endpoint(3)} A {@link RmaMessage} posted with {@link RmaMessage#write} or {@link RmaMessage#read} has its own flags
     * instead.
     *
     * @param everyOne flags that can be a default: {@link OperationFlag#canBeDefault}
     * @throws IllegalArgumentException if one cannot: it says something about a single operation
     */
    public FabricHints operationFlags(OperationFlag... everyOne) {
        Set<OperationFlag> set = EnumSet.noneOf(OperationFlag.class);
        set.addAll(List.of(everyOne));
        for (OperationFlag flag : set) {
            if (!flag.canBeDefault()) {
                throw new IllegalArgumentException(
                        flag + " cannot be had by default: say it of single operations, with RmaMessage.flags");
            }
        }
        FabricHints copy = copy();
        copy.operationFlags = set;
        return copy;
    }

    /**
     * {@return a copy that asks for this provider}
     *
     * @param name its name as {@link Libfabric#providers} gives it, such as {@code shm} or {@code tcp;ofi_rxm}
     * @throws IllegalArgumentException if it is empty, or has a zero character
     */
    public FabricHints provider(String name) {
        FabricHints copy = copy();
        copy.provider = requireText(name, "provider");
        return copy;
    }

    /**
     * {@return a copy that asks for this fabric}
     *
     * @param name a network, as {@link FabricAttributes#name} gives it
     * @throws IllegalArgumentException if it is empty, or has a zero character
     */
    public FabricHints fabric(String name) {
        FabricHints copy = copy();
        copy.fabric = requireText(name, "fabric");
        return copy;
    }

    /**
     * {@return a copy that asks for this domain}
     *
     * @param name a device or network interface, as {@link DomainAttributes#name} gives it
     * @throws IllegalArgumentException if it is empty, or has a zero character
     */
    public FabricHints domain(String name) {
        FabricHints copy = copy();
        copy.domain = requireText(name, "domain");
        return copy;
    }

    /**
     * {@return a copy that asks for this threading model}
     *
     * @param model who serialises calls
     */
    public FabricHints threading(ThreadingModel model) {
        FabricHints copy = copy();
        copy.threading = Objects.requireNonNull(model);
        return copy;
    }

    /**
     * {@return a copy that asks for this progress model of connections and the like}
     *
     * @param model who makes progress
     */
    public FabricHints controlProgress(ProgressModel model) {
        FabricHints copy = copy();
        copy.controlProgress = Objects.requireNonNull(model);
        return copy;
    }

    /**
     * {@return a copy that asks for this progress model of data}
     *
     * @param model who makes progress
     */
    public FabricHints dataProgress(ProgressModel model) {
        FabricHints copy = copy();
        copy.dataProgress = Objects.requireNonNull(model);
        return copy;
    }

    /**
     * {@return a copy whose endpoints shall have this local address; FI_SOURCE of fi_getinfo(3)}
     *
     * @param node a host name or address of this machine, or null for any
     * @param service a port or service name, or null for any
     * @throws IllegalArgumentException if one of them is empty, or has a zero character
     */
    public FabricHints source(String node, String service) {
        return address(node, service, true);
    }

    /**
     * {@return a copy whose endpoints shall reach this address}
     *
     * @param node a host name or address
     * @param service a port or service name, or null for any
     * @throws IllegalArgumentException if one of them is empty, or has a zero character
     */
    public FabricHints destination(String node, String service) {
        return address(requireText(node, "node"), service, false);
    }

    private FabricHints address(String newNode, String newService, boolean isSource) {
        FabricHints copy = copy();
        copy.node = newNode == null ? null : requireText(newNode, "node");
        copy.service = newService == null ? null : requireText(newService, "service");
        copy.source = isSource;
        return copy;
    }

    /**
     * {@return a copy that asks for these attributes of domain and endpoints}
     *
     * @param wanted limits that must be met, and promises that the provider must make
     */
    public FabricHints attributes(AttributeHints wanted) {
        FabricHints copy = copy();
        copy.attributes = Objects.requireNonNull(wanted);
        return copy;
    }

    /** {@return the attributes of domain and endpoints that are asked for} */
    public AttributeHints attributes() {
        return attributes;
    }

    /** {@return the kind of endpoint that is asked for} */
    public EndpointType endpointType() {
        return endpointType;
    }

    /** {@return the capabilities that are asked for} */
    public Set<Capability> capabilities() {
        return capabilities.isEmpty() ? Set.of() : EnumSet.copyOf(capabilities);
    }

    /** {@return how every operation is to be carried out} */
    public Set<OperationFlag> operationFlags() {
        return operationFlags.isEmpty() ? Set.of() : EnumSet.copyOf(operationFlags);
    }

    /** {@return the threading model that is asked for} */
    public ThreadingModel threading() {
        return threading;
    }

    /** {@return the progress model of connections that is asked for} */
    public ProgressModel controlProgress() {
        return controlProgress;
    }

    /** {@return the progress model of data that is asked for} */
    public ProgressModel dataProgress() {
        return dataProgress;
    }

    /** {@return the provider that is asked for} */
    public Optional<String> provider() {
        return Optional.ofNullable(provider);
    }

    /** {@return the fabric that is asked for} */
    public Optional<String> fabric() {
        return Optional.ofNullable(fabric);
    }

    /** {@return the domain that is asked for} */
    public Optional<String> domain() {
        return Optional.ofNullable(domain);
    }

    /** {@return the local or remote host that is asked for} */
    public Optional<String> node() {
        return Optional.ofNullable(node);
    }

    /** {@return the local or remote port that is asked for} */
    public Optional<String> service() {
        return Optional.ofNullable(service);
    }

    /** {@return whether node and service are this side's} */
    public boolean isSource() {
        return source;
    }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        provider().ifPresent(name -> parts.add("provider " + name));
        fabric().ifPresent(name -> parts.add("fabric " + name));
        domain().ifPresent(name -> parts.add("domain " + name));
        if (endpointType != EndpointType.UNSPECIFIED) {
            parts.add("endpoint type " + endpointType);
        }
        if (!capabilities.isEmpty()) {
            parts.add("capabilities " + capabilities);
        }
        if (!operationFlags.isEmpty()) {
            parts.add("operation flags " + operationFlags);
        }
        parts.add("threading " + threading);
        if (controlProgress != ProgressModel.UNSPECIFIED) {
            parts.add("control progress " + controlProgress);
        }
        if (dataProgress != ProgressModel.UNSPECIFIED) {
            parts.add("data progress " + dataProgress);
        }
        if (!attributes.isEmpty()) {
            parts.add(attributes.toString());
        }
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

    private FabricHints copy() {
        try {
            return (FabricHints) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
