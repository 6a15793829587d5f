package io.ofi4j;

import java.util.List;
import java.util.stream.Stream;

/**
 * A column of the table of calls: a provider with one type of endpoint.
 *
 * @param label what the table says
 * @param hints what opens it here
 */
record CallColumn(String label, FabricHints hints) {
    /** Of every libfabric: {@code net} of libfabric 1.x became {@code tcp}. */
    static final List<String> LABELS = List.of("shm", "tcp;ofi_rxm", "net, tcp", "sockets", "udp;ofi_rxd",
            "verbs;ofi_rxm", "verbs");

    /** Those of this machine. */
    static Stream<CallColumn> here() {
        return TestProviders.transfers().map(provider -> new CallColumn(label(provider), TestProviders.hints(provider)))
                .filter(column -> LABELS.contains(column.label));
    }

    private static String label(String provider) {
        if (provider.equals("MSG verbs")) {
            return "verbs"; // which has no other endpoints with one-sided calls
        }
        return provider.equals("net") || provider.equals("tcp") ? "net, tcp" : provider;
    }

    @Override
    public String toString() {
        return label;
    }
}
