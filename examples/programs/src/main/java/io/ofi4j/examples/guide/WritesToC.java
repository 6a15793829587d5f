package io.ofi4j.examples.guide;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;

/** Reads and writes the memory of a C program. The arguments are the provider and the line that {@code peer} prints. */
public final class WritesToC {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int SIZE = 64;
    /** Where the C program looks for an answer. */
    private static final long ANSWER = 2048;

    private WritesToC() {}

    public static void main(String[] arguments) {
        if (arguments.length != 5) {
            System.err.println("usage: WritesToC PROVIDER ADDRESS BASE LENGTH KEY");
            System.exit(2);
        }
        EndpointAddress address = EndpointAddress.of(HexFormat.of().parseHex(arguments[1])); // of fi_getname
        long rights = Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit(); // as the C program registered it
        RemoteRegion remote = new RemoteRegion(Long.decode(arguments[2]), Long.decode(arguments[3]),
                Long.parseUnsignedLong(arguments[4].substring(2), 16), rights);

        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).operationFlags(OperationFlag.DELIVERY_COMPLETE);
        if (!arguments[0].equals("shm")) { hints = hints.source("127.0.0.1", null); }
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(2 * SIZE, Access.READ, Access.WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(address);
            endpoint.rma().read(memory.slice(0, SIZE), peer, remote.slice(0, SIZE), 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("C says: " + memory.segment().getString(0));

            memory.segment().setString(SIZE, "Hello from Java");
            memory.segment().set(ValueLayout.JAVA_BYTE, 2 * SIZE - 1, (byte) 1); // it is complete
            endpoint.rma().write(memory.slice(SIZE, SIZE), peer, remote.slice(ANSWER, SIZE), 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
        }
    }
}
