package io.ofi4j.test;

import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Which providers carry the bytes of a test on this machine. */
final class TestProviders {
    /** The one that a test prefers first. From libfabric 1.18 on, {@code net} is called {@code tcp}. */
    private static final List<String> CANDIDATES = List.of("shm", "tcp;ofi_rxm", "tcp", "net", "sockets");
    private static final Set<String> OF_THE_NETWORK = Set.of("tcp", "net", "sockets", "udp");
    private static final long LENGTH = 64;

    /** Why a candidate does not serve; empty if it does. What was not tried is not in it. */
    private static final Map<String, String> TRIED = new LinkedHashMap<>();

    private TestProviders() {}

    /** The one that is named for this run, or the first that serves. */
    static String ofThisRun() {
        String named = System.getProperty("io.ofi4j.test.provider", "");
        return named.isEmpty() ? first() : named;
    }

    private static String first() {
        for (String candidate : CANDIDATES) {
            if (obstacle(candidate).isEmpty()) { return candidate; }
        }
        throw new NoProviderException("no provider of this machine carries the bytes of a test: "
                + CANDIDATES.stream().map(name -> name + " (" + obstacle(name) + ")").collect(Collectors.joining(", "))
                + "; -Dio.ofi4j.test.provider names another");
    }

    static List<String> all() { return CANDIDATES.stream().filter(name -> obstacle(name).isEmpty()).toList(); }

    private static String obstacle(String provider) {
        synchronized (TRIED) {
            return TRIED.computeIfAbsent(provider, TestProviders::tried);
        }
    }

    private static String tried(String provider) {
        Libfabric.load(); // where there is none, that is what a test is told
        FabricInfo info;
        try {
            info = info(provider);
        } catch (NoProviderException e) {
            return "not there";
        }
        try (TestFabric fabric = new TestFabric(info, ShmFiles.unwatched())) {
            MemoryRegion from = fabric.client().allocate(LENGTH);
            MemoryRegion to = fabric.server().allocate(LENGTH);
            fabric.client().endpoint().rma().write(from.slice(0, LENGTH), fabric.client().peer(), to.remote(), 1);
            fabric.client().await(1);
            return "";
        } catch (RuntimeException e) { // whatever it is, the next one may serve
            return e.getMessage();
        }
    }

    /** The info of a provider, with atomic operations if it has them. */
    static FabricInfo info(String provider) {
        FabricHints hints = FabricHints.rma().addCapabilities(Capability.MSG, Capability.TAGGED).provider(provider)
                .operationFlags(OperationFlag.DELIVERY_COMPLETE);
        String core = provider.split(";")[0];
        if (OF_THE_NETWORK.contains(core)) { hints = hints.source("127.0.0.1", null); }
        try {
            return Libfabric.load().info(hints.addCapabilities(Capability.ATOMIC)).getFirst();
        } catch (NoProviderException e) {
            return Libfabric.load().info(hints).getFirst();
        }
    }
}
