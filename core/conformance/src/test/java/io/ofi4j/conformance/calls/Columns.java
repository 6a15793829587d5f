package io.ofi4j.conformance.calls;

import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointType;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The columns of the table of calls, and what of them is on this machine. */
public final class Columns {
    /** Of every libfabric: {@code net} of libfabric 1.x became {@code tcp}. */
    static final List<String> LABELS = List.of("shm", "tcp;ofi_rxm", "net, tcp", "sockets", "udp;ofi_rxd", "tcp MSG",
            "net MSG", "sockets MSG", "udp DGRAM", "sockets DGRAM", "verbs;ofi_rxm", "verbs MSG");

    /** What has known failures, and no column: {@code ofi4j verify} alone tries it. */
    static final List<String> WITHOUT_COLUMN = List.of("sm2", "ucx", "lnx", "psm3");

    private Columns() {}

    /** Those of this machine, or those that were chosen. */
    public static Stream<Subject> here() {
        boolean chosen = System.getProperty("ofi4j.test.providers") != null;
        Stream<Subject> connected = (chosen ? TestProviders.connected() : Stream.of("tcp", "net", "sockets"))
                .map(provider -> subject("MSG " + provider, EndpointType.MSG));
        return Stream
                .of(TestProviders.rma().map(provider -> subject(provider, EndpointType.RDM)), connected,
                        TestProviders.datagrams().map(provider -> subject(provider, EndpointType.DGRAM)))
                .flatMap(subjects -> subjects);
    }

    /** @param name as in {@link TestProviders} */
    private static Subject subject(String name, EndpointType type) {
        Optional<String> source = name.equals("shm") ? Optional.empty() : Optional.of(TestProviders.address(name));
        return new Subject(name.substring(name.indexOf(' ') + 1), type, source, Pair.DEADLINE);
    }
}
