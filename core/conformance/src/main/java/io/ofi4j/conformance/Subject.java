package io.ofi4j.conformance;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.Libfabric;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * What is tried: a provider with one type of endpoint.
 *
 * @param provider the provider's name, such as {@code tcp;ofi_rxm}
 * @param type its endpoints
 * @param source the address of this machine that the endpoints have; without one, libfabric chooses
 * @param deadline how long a trial waits for what a call shall do; a {@link FabricTimeoutException} ends the wait
 * @param farProcesses where the far end of a {@link Pair} is
 */
public record Subject(String provider, EndpointType type, Optional<String> source, Duration deadline,
        FarProcesses farProcesses) {
    /** The providers that this process has asked for tagged messages. */
    private static final Set<String> ASKED = ConcurrentHashMap.newKeySet();

    /** What is tried in this process alone. */
    public Subject(String provider, EndpointType type, Optional<String> source, Duration deadline) {
        this(provider, type, source, deadline, FarProcesses.NONE);
    }

    /** {@return the hints that open it, with one-sided operations where it has them} */
    public FabricHints hints() {
        // lnx answers each question of a process as the first: that is what it has
        if (ASKED.add(provider)) { isThere(at(FabricHints.any().endpointType(type).capabilities(Capability.TAGGED))); }
        FabricHints hints = at(switch (type) {
            case MSG -> FabricHints.connected();
            case DGRAM -> FabricHints.datagrams();
            default -> FabricHints.rma();
        });
        return type == EndpointType.DGRAM || isThere(hints) ? hints : at(FabricHints.any().endpointType(type));
    }

    /** {@return the hints that open it with these capabilities, and with one-sided operations where it has them} */
    public FabricHints hints(Capability... wanted) {
        Capability[] withRma = Stream.concat(Stream.of(Capability.RMA), Stream.of(wanted)).toArray(Capability[]::new);
        FabricHints hints = hints();
        return hints.capabilities(hints.capabilities().contains(Capability.RMA) ? withRma : wanted);
    }

    private FabricHints at(FabricHints hints) {
        FabricHints named = hints.provider(provider);
        return source.map(address -> named.source(address, null)).orElse(named);
    }

    /** {@return whether libfabric has the provider at all, whatever it is asked for} */
    boolean isThere() {
        return isThere(FabricHints.any().provider(provider));
    }

    private static boolean isThere(FabricHints hints) {
        try {
            return !Libfabric.load().info(hints).isEmpty();
        } catch (NoProviderException e) {
            return false;
        }
    }

    /**
     * {@return the first that libfabric has of hints}
     *
     * @throws NoProviderException if there is none
     */
    public static FabricInfo info(FabricHints hints) { return Libfabric.load().info(hints).getFirst(); }

    /** {@return the same with another deadline} */
    public Subject within(Duration limit) {
        return new Subject(provider, type, source, limit, farProcesses);
    }

    /** {@return the same, with far ends in these processes} */
    public Subject with(FarProcesses processes) {
        return new Subject(provider, type, source, deadline, processes);
    }

    /** {@return whether its endpoints are connected} */
    public boolean isConnected() {
        return type == EndpointType.MSG;
    }

    /** {@return whether its endpoints send datagrams} */
    public boolean isOfDatagrams() {
        return type == EndpointType.DGRAM;
    }

    /** {@return its name in tables} */
    public String label() {
        return type == EndpointType.RDM ? provider : provider + " " + type;
    }

    @Override
    public String toString() { return label(); }
}
