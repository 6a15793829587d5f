package io.ofi4j;

import java.util.List;
import java.util.stream.Stream;

/** The software providers that every machine has; one that is missing fails the tests. */
final class TestProviders {
    static {
        if (Boolean.getBoolean("ofi4j.test.garbage")) {
            Garbage.start();
        }
    }

    private TestProviders() {
    }

    /** Those with RDM endpoints and RMA: {@code net} of libfabric 1.x became {@code tcp}. */
    static Stream<String> rma() {
        boolean two = Libfabric.load().version().major() >= 2;
        return Stream.of("shm", "tcp;ofi_rxm", two ? "tcp" : "net", "sockets", "udp;ofi_rxd");
    }

    /** Hints for a provider, on the loopback interface where it is a network's. */
    static FabricHints hints(String provider) {
        FabricHints hints = FabricHints.rma().provider(provider);
        return provider.equals("shm") ? hints : hints.source("127.0.0.1", null);
    }

    static FabricInfo info(String provider) {
        return info(hints(provider));
    }

    static FabricInfo info(FabricHints hints) {
        List<FabricInfo> found = Libfabric.load().info(hints);
        return found.getFirst();
    }
}
