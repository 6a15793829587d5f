package io.ofi4j.jmh.compare;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a worker has open: two endpoints that share an address vector, each with a completion queue. The same objects,
 * with the same hints, as in {@code world.c}.
 */
final class World implements CompletionHandler, AutoCloseable {
    /** How many completions one poll takes at most. */
    static final int BATCH = 16;
    /** How many bytes a letter to the other process can have. */
    static final int LETTER_ROOM = 64;

    final Domain domain;
    final AddressVector vector;
    final CompletionQueue queue;
    final CompletionQueue targetQueue;
    final Endpoint source;
    final Endpoint target;
    /** Without one-sided transfers, null. */
    final Rma rma;
    final MemoryRegion local;
    final MemoryRegion memory;
    final RemoteRegion remote;
    final MemoryRegion letter;
    final MemoryRegion mailbox;
    final Peer peer;
    /** The other process's endpoint and mailbox, where there is one. */
    Peer other;
    RemoteRegion otherMailbox;
    /** How many operations were accepted, how many have completed, and how much completion data has arrived. */
    long posted;
    long completed;
    long arrived;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final FabricInfo info;

    /** Opens everything, on the thread that will use it. */
    World(Family family, FabricHints hints, long length) {
        Libfabric libfabric = Libfabric.load();
        info = libfabric.info(hints).getFirst();
        try {
            Fabric fabric = keep(libfabric.openFabric(info));
            domain = keep(fabric.openDomain());
            queue = keep(domain.openCompletionQueue());
            targetQueue = keep(domain.openCompletionQueue());
            vector = keep(domain.openAddressVector());
            local = keep(allocate(family, length, Access.READ, Access.WRITE));
            memory = keep(allocate(family, length, Access.REMOTE_READ, Access.REMOTE_WRITE));
            remote = memory.remote();
            letter = keep(allocate(family, LETTER_ROOM, Access.WRITE, Access.REMOTE_WRITE)); // as in world.c
            mailbox = keep(allocate(family, LETTER_ROOM, Access.REMOTE_READ, Access.REMOTE_WRITE));
            source = open(family, queue);
            target = open(family, targetQueue);
            rma = family.isTwoSided() ? null : source.rma();
            peer = vector.insert(target.address());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Endpoint open(Family family, CompletionQueue completions) {
        Endpoint endpoint = keep(domain.openEndpoint()).bind(vector).bind(completions);
        return (family.isTwoSided() ? endpoint.longestMessage(LETTER_ROOM) : endpoint).enable();
    }

    private MemoryRegion allocate(Family family, long length, Access... oneSided) {
        return family.isTwoSided()
                ? domain.allocate(length, Access.SEND, Access.RECEIVE)
                : domain.allocate(length, oneSided);
    }

    private <T extends AutoCloseable> T keep(T object) {
        opened.push(object);
        return object;
    }

    FabricInfo info() { return info; }

    /** Inserts the endpoint of another process. */
    void insertOther(EndpointAddress address, RemoteRegion itsMailbox) {
        other = vector.insert(address);
        otherMailbox = itsMailbox;
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if (token != NO_TOKEN) {
            completed++;
        } else {
            arrived++;
        }
    }

    int pollQueue() { return queue.poll(this, BATCH); }

    int pollTarget() { return targetQueue.poll(this, BATCH); }

    void makeProgress() {
        pollTarget();
        pollQueue();
    }

    /** Closes everything, the last opened first. */
    @Override
    public void close() { closeAll(opened); }

    /** Closes the objects of a stack. */
    static void closeAll(Deque<AutoCloseable> opened) {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e); // nothing that is kept throws any other
            }
        }
    }
}
