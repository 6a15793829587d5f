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
    static final List<String> LABELS = List.of("shm", "tcp;ofi_rxm", "net, tcp", "sockets", "udp;ofi_rxd", "tcp MSG",
            "net MSG", "sockets MSG");

    /** Those of this machine. */
    static Stream<CallColumn> here() {
        return Stream.concat(
                TestProviders.rma().map(provider -> new CallColumn(label(provider), TestProviders.hints(provider))),
                Stream.of("tcp", "net", "sockets")
                        .map(provider -> new CallColumn(provider + " MSG", TestProviders.connectedHints(provider))));
    }

    private static String label(String provider) {
        return provider.equals("net") || provider.equals("tcp") ? "net, tcp" : provider;
    }

    boolean isConnected() {
        return hints.endpointType() == EndpointType.MSG;
    }

    @Override
    public String toString() {
        return label;
    }
}
