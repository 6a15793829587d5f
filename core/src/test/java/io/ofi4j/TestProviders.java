package io.ofi4j;

import java.util.List;
import java.util.stream.Stream;

/**
 * The software providers that every machine has; one that is missing fails the tests. Where a machine has a device,
 * {@code -Dofi4j.test.providers} names others instead, separated by commas, and {@code -Dofi4j.test.address} an address of it.
 */
final class TestProviders {
    private static final List<String> CHOSEN = Stream.of(System.getProperty("ofi4j.test.providers", "").split(","))
            .filter(name -> !name.isBlank()).toList();
    private static final String CHOSEN_ADDRESS = System.getProperty("ofi4j.test.address", "127.0.0.1");

    static {
        if (Boolean.getBoolean("ofi4j.test.garbage")) {
            Garbage.start();
        }
    }

    private TestProviders() {
    }

    /** Those with RDM endpoints and RMA: {@code net} of libfabric 1.x became {@code tcp}. */
    static Stream<String> rma() {
        if (!CHOSEN.isEmpty()) {
            return CHOSEN.stream();
        }
        boolean two = Libfabric.load().version().major() >= 2;
        return Stream.of("shm", "tcp;ofi_rxm", two ? "tcp" : "net", "sockets", "udp;ofi_rxd");
    }

    /** Hints for a provider, on the loopback interface where it is a network's. */
    static FabricHints hints(String provider) {
        FabricHints hints = FabricHints.rma().provider(provider);
        return provider.equals("shm") ? hints : hints.source(address(provider), null);
    }

    private static String address(String provider) {
        return CHOSEN.contains(provider) ? CHOSEN_ADDRESS : "127.0.0.1";
    }

    static FabricInfo info(String provider) {
        return info(hints(provider));
    }

    static FabricInfo info(FabricHints hints) {
        List<FabricInfo> found = Libfabric.load().info(hints);
        return found.getFirst();
    }
}
