package io.ofi4j.command.top;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import java.io.IOException;

/**
 * A process with three receives in flight, and two that the close of an endpoint has canceled. With a byte of input it
 * closes everything.
 */
public final class Holding {
    private static final long LONGEST_MILLIS = 300_000;

    private Holding() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.tagged().provider("shm").threading(ThreadingModel.DOMAIN);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue(32);
                AddressVector peers = domain.openAddressVector();
                MemoryRegion inbox = domain.allocate(4096, Access.RECEIVE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            try (Endpoint closed = domain.openEndpoint().bind(queue).bind(peers).enable()) {
                receive(closed, inbox, 2);
            }
            receive(endpoint, inbox, 3);
            System.out.println("holding");
            if (System.in.read() < 0) { return; } // the test has ended
        }
        System.out.println("closed");
        Thread.sleep(LONGEST_MILLIS);
    }

    private static void receive(Endpoint endpoint, MemoryRegion inbox, int count) {
        for (int tag = 0; tag < count; tag++) {
            endpoint.tagged().receive(inbox.slice(64L * tag, 64), tag, 0, tag);
        }
    }
}
