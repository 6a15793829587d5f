package io.ofi4j.calls;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A column of the table of calls: a provider with one type of endpoint.
 *
 * @param label what the table says
 * @param hints what opens it here
 * @param deadline how long a trial waits for what its call shall do
 */
record CallColumn(String label, FabricHints hints, Duration deadline) {
    /** Of every libfabric: {@code net} of libfabric 1.x became {@code tcp}. */
    static final List<String> LABELS = List.of("shm", "tcp;ofi_rxm", "net, tcp", "sockets", "udp;ofi_rxd", "tcp MSG",
            "net MSG", "sockets MSG", "udp DGRAM", "sockets DGRAM", "verbs;ofi_rxm", "verbs MSG");

    private static final String DATAGRAMS = " DGRAM";

    CallColumn(String label, FabricHints hints) { this(label, hints, Pair.DEADLINE); }

    /** The same, with another deadline. */
    CallColumn within(Duration limit) {
        return new CallColumn(label, hints, limit);
    }

    /** Those of this machine, or those that were chosen. */
    static Stream<CallColumn> here() {
        boolean chosen = System.getProperty("ofi4j.test.providers") != null;
        Stream<CallColumn> reliable = Stream.concat(
                TestProviders.rma().map(provider -> new CallColumn(label(provider), TestProviders.hints(provider))),
                (chosen ? TestProviders.connected() : Stream.of("tcp", "net", "sockets"))
                        .map(provider -> new CallColumn(provider + " MSG", TestProviders.connectedHints(provider))));
        return Stream.concat(reliable, TestProviders.datagrams().map(CallColumn::ofDatagrams));
    }

    private static CallColumn ofDatagrams(String provider) {
        return new CallColumn(provider.substring(provider.indexOf(' ') + 1) + DATAGRAMS, TestProviders.hints(provider));
    }

    /** Whether it is a column of datagrams, where the calls of messages are tried and no others. */
    static boolean isOfDatagrams(String label) {
        return label.endsWith(DATAGRAMS);
    }

    /** Whether a call is tried over it. */
    boolean tries(String call) {
        return !isOfDatagrams(label) || MessageTrials.has(call);
    }

    private static String label(String provider) {
        if (provider.equals("MSG verbs")) {
            return "verbs"; // which has no other endpoints with one-sided calls
        }
        return provider.equals("net") || provider.equals("tcp") ? "net, tcp" : provider;
    }

    boolean isConnected() { return hints.endpointType() == EndpointType.MSG; }

    @Override
    public String toString() { return label; }
}
