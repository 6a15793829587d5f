package io.ofi4j.support;

import io.ofi4j.Libfabric;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Version;
import java.util.List;
import java.util.stream.Stream;

/**
 * The software providers that every machine has; one that is missing fails the tests. Where a machine has a device,
 * {@code -Dofi4j.test.providers} names others instead, separated by commas, with {@code MSG} before them for their
 * connected endpoints and {@code DGRAM} for their datagrams, and {@code -Dofi4j.test.address} an address of it.
 */
public final class TestProviders {
    private static final String CONNECTED = "MSG ";
    private static final String DATAGRAMS = "DGRAM ";
    private static final List<String> CHOSEN = Stream.of(System.getProperty("ofi4j.test.providers", "").split(","))
            .filter(name -> !name.isBlank()).toList();
    private static final String CHOSEN_ADDRESS = System.getProperty("ofi4j.test.address", "127.0.0.1");

    static {
        if (Boolean.getBoolean("ofi4j.test.garbage")) { Garbage.start(); }
    }

    private TestProviders() {}

    /** The names of those that were chosen; without a choice, what every machine has. */
    static String chosen() {
        return CHOSEN.isEmpty() ? "software providers" : String.join(", ", CHOSEN);
    }

    /** The options that give another JVM the same. */
    public static List<String> options() {
        return List.of("-Dofi4j.test.providers=" + String.join(",", CHOSEN), "-Dofi4j.test.address=" + CHOSEN_ADDRESS);
    }

    /** Those with RDM endpoints and RMA: {@code net} of libfabric 1.16 and 1.17 became {@code tcp}. */
    public static Stream<String> rma() {
        if (!CHOSEN.isEmpty()) {
            return CHOSEN.stream().filter(name -> !name.startsWith(CONNECTED) && !name.startsWith(DATAGRAMS));
        }
        Stream<String> tcp = isNetCalledTcp() ? Stream.of("tcp") : hasNet() ? Stream.of("net") : Stream.of();
        return Stream.of(Stream.of("shm", "tcp;ofi_rxm"), tcp, Stream.of("sockets", "udp;ofi_rxd"))
                .flatMap(names -> names);
    }

    private static boolean hasNet() { return !isBefore(1, 16); }

    private static boolean isNetCalledTcp() { return !isBefore(1, 18); }

    /** Whether the libfabric that is tested is older than this one. */
    public static boolean isBefore(int major, int minor) {
        return Libfabric.load().version().compareTo(new Version(major, minor)) < 0;
    }

    /** Those with connected (MSG) endpoints and RMA. */
    public static Stream<String> connected() {
        if (!CHOSEN.isEmpty()) {
            return CHOSEN.stream().filter(name -> name.startsWith(CONNECTED))
                    .map(name -> name.substring(CONNECTED.length()));
        }
        return isNetCalledTcp() || !hasNet() ? Stream.of("tcp", "sockets") : Stream.of("tcp", "net", "sockets");
    }

    /** Everything with RMA: providers' names, with {@code MSG} before them for their connected endpoints. */
    public static Stream<String> transfers() {
        return Stream.concat(rma(), connected().map(CONNECTED::concat));
    }

    /** Those with datagrams: their names with {@code DGRAM} before them. */
    public static Stream<String> datagrams() {
        return CHOSEN.isEmpty()
                ? Stream.of("udp", "sockets").map(DATAGRAMS::concat)
                : CHOSEN.stream().filter(name -> name.startsWith(DATAGRAMS));
    }

    /** Those whose atomic operations do what they should. */
    public static Stream<String> atomics() {
        List<String> software = List.of("shm", "tcp;ofi_rxm", "sockets", "MSG sockets");
        return CHOSEN.isEmpty()
                ? software.stream()
                : CHOSEN.stream().filter(name -> software.contains(name) || name.startsWith("verbs;"));
    }

    /** Hints for a provider with atomic operations. */
    public static FabricHints atomicHints(String provider) {
        return hints(provider).capabilities(Capability.RMA, Capability.ATOMIC);
    }

    /** Hints for a provider, on the loopback interface where it is a network's. */
    public static FabricHints hints(String provider) {
        if (provider.startsWith(CONNECTED)) { return connectedHints(provider.substring(CONNECTED.length())); }
        if (provider.startsWith(DATAGRAMS)) {
            return FabricHints.datagrams().provider(provider.substring(DATAGRAMS.length())).source(address(provider),
                    null);
        }
        FabricHints hints = FabricHints.rma().provider(provider);
        return provider.equals("shm") ? hints : hints.source(address(provider), null);
    }

    /** Where a provider's endpoints are. */
    public static String address(String provider) {
        return CHOSEN.contains(provider) ? CHOSEN_ADDRESS : "127.0.0.1";
    }

    public static FabricHints connectedHints(String provider) {
        return FabricHints.connected().provider(provider).source(address(CONNECTED + provider), null);
    }

    public static FabricInfo info(String provider) { return info(hints(provider)); }

    public static FabricInfo info(FabricHints hints) {
        List<FabricInfo> found = Libfabric.load().info(hints);
        return found.getFirst();
    }
}
