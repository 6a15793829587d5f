package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Over shm, in a process of its own each: one sends a message that is longer than the receive of the other. Each polls
 * in one thread and writes to itself in another, with queues of their own. With {@code receive beside}, the queue of
 * the receive serves an endpoint, too, whose longest message is known.
 */
public final class LongMessage {
    private static final int LONG = 64 * 1024;
    private static final int COLLECTIONS = 20;

    private LongMessage() {}

    public static void main(String[] arguments) throws InterruptedException, IOException {
        boolean receives = !arguments[0].equals("send");
        Fabric fabric = Libfabric.load().openFabric(Libfabric.load()
                .info(FabricHints.messages().capabilities(Capability.MSG, Capability.RMA).provider("shm")).getFirst());
        Domain domain = fabric.openDomain();
        CompletionQueue queue = domain.openCompletionQueue();
        CompletionQueue written = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        Endpoint promised = null;
        if (arguments[0].equals("receive beside")) { // polls of this queue alone may be critical
            promised = domain.openEndpoint().bind(queue).bind(vector).longestMessage(LONG).enable();
        }
        Endpoint endpoint = domain.openEndpoint().bind(written, Direction.TRANSMIT).bind(queue, Direction.RECEIVE)
                .bind(vector).address(domain.info().addressNamed(arguments[receives ? 1 : 2])).enable();
        MemoryRegion region = domain.allocate(LONG, Access.SEND, Access.RECEIVE, Access.WRITE, Access.REMOTE_WRITE);
        if (receives) { endpoint.messages().receive(region.slice(0, 8), 1); }
        System.out.println("ready");
        if (!receives) {
            endpoint.messages().send(region.slice(0, LONG), insert(vector, domain.info().addressNamed(arguments[1])),
                    2);
            System.out.println("sent");
        }
        Peer itself = vector.insert(endpoint.address());
        forEver(() -> queue.poll((token, flags, length, data) -> {}, 1));
        // slowly: nobody reads the completions, and some room must be left when the other thread's poll does not return
        forEver(() -> {
            LockSupport.parkNanos(10_000_000);
            endpoint.rma().tryWrite(region, 0, Long.BYTES, itself, region.remote(), 0, 3);
        });
        if (promised != null) { // its posts are critical, and its completions go to the queue that the poll reads
            Rma rma = promised.rma();
            forEver(() -> {
                LockSupport.parkNanos(10_000_000);
                rma.tryWrite(region, 0, Long.BYTES, itself, region.remote(), 0, 4);
            });
        }
        System.in.read(); // until the test knows that the message is sent
        // each stops every thread for a moment, and waits for those that it cannot stop
        for (int i = 0; i < COLLECTIONS; i++) {
            Thread.sleep(100);
            System.gc();
        }
        System.out.println("alive");
        Runtime.getRuntime().halt(0); // a call may not return
    }

    private static void forEver(Runnable action) {
        Thread thread = new Thread(() -> {
            while (true) {
                action.run();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static Peer insert(AddressVector vector, EndpointAddress address) throws InterruptedException {
        for (int tries = 0;; tries++) {
            try {
                return vector.insert(address);
            } catch (FabricException e) {
                if (tries == 200) { throw e; }
                Thread.sleep(20);
            }
        }
    }
}
