package io.ofi4j.jmh.compare;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.info.EndpointAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** What {@code --scale} has grow, through the public API; line for line what {@code growth.c} does. */
final class Growth implements AutoCloseable {
    /** How long each of many regions is; all lie in the memory of the first two. */
    private static final int REGION = 64;
    /** Where a struct sockaddr_in has the port and the second byte of the address. */
    private static final int PORT_AT = 2;
    private static final int SECOND_BYTE_AT = 5;
    private static final int FIRST_PORT = 1024;

    private final World world;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private MemoryRegion[] locals = {};
    private RemoteRegion[] remotes = {};
    private int peers = 1;
    private Sender[] senders = {};
    /** The one that the next operation uses, so that a short slice does not use the first ones only. */
    private int next;

    /** An endpoint and the queue of its completions. */
    private record Sender(Rma rma, CompletionQueue queue) {}

    Growth(World world) { this.world = world; }

    /** Makes so many regions, peers, queues or endpoints, those included that are there. */
    void grow(String what, int count) {
        switch (what) {
            case "regions" -> growRegions(count);
            case "peers" -> growPeers(count);
            case "queues" -> growSenders(count, true);
            case "endpoints" -> growSenders(count, false);
            default -> throw new IllegalArgumentException("no " + what + " can grow");
        }
    }

    private void growRegions(int count) {
        int there = locals.length;
        locals = Arrays.copyOf(locals, count);
        remotes = Arrays.copyOf(remotes, count);
        for (int at = there; at < count; at++) {
            long offset = (long) at * REGION;
            locals[at] = keep(world.domain.register(world.local.segment().asSlice(offset, REGION), Access.WRITE));
            remotes[at] = keep(
                    world.domain.register(world.memory.segment().asSlice(offset, REGION), Access.REMOTE_WRITE))
                    .remote();
        }
    }

    /** Internet addresses that are nobody's. */
    private void growPeers(int count) {
        byte[] address = world.source.address().toBytes();
        for (; peers < count; peers++) {
            byte[] another = address.clone();
            ByteBuffer.wrap(another).putShort(PORT_AT, (short) (FIRST_PORT + peers)).put(SECOND_BYTE_AT, (byte) 1);
            world.vector.insert(EndpointAddress.of(another));
        }
    }

    /** Endpoints, each with a queue of its own or all with that of the source, which is the first. */
    private void growSenders(int count, boolean queues) {
        int there = senders.length;
        senders = Arrays.copyOf(senders, count);
        for (int at = there; at < count; at++) {
            CompletionQueue queue = queues && at > 0 ? keep(world.domain.openCompletionQueue()) : world.queue;
            Endpoint endpoint = at > 0
                    ? keep(world.domain.openEndpoint()).bind(world.vector).bind(queue).enable()
                    : world.source;
            senders[at] = new Sender(endpoint.rma(), queue);
        }
    }

    private <T extends AutoCloseable> T keep(T object) {
        opened.push(object);
        return object;
    }

    static boolean isWork(String work) { return work.equals("regions") || work.equals("senders"); }

    /** Runs so many operations; how many nanoseconds that took. */
    long run(String work, long size, long count) {
        long start = System.nanoTime();
        if (work.equals("regions")) {
            writeToEach(size, count);
        } else {
            writeFromEach(size, count);
        }
        return System.nanoTime() - start;
    }

    /** From and to another region each time. */
    private void writeToEach(long size, long count) {
        int at = next;
        for (long done = 0; done < count; done++) {
            while (!world.rma.tryWrite(locals[at], 0, size, world.peer, remotes[at], 0, world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            at = at + 1 == locals.length ? 0 : at + 1;
            while (world.completed < world.posted) {
                if (world.pollQueue() == 0) { world.pollTarget(); }
            }
        }
        next = at;
    }

    /**
     * Through another endpoint each time. The target makes progress after each: a provider that completes what it has
     * only sent would else fill the connections.
     */
    private void writeFromEach(long size, long count) {
        int at = next;
        for (long done = 0; done < count; done++) {
            Sender sender = senders[at];
            while (!sender.rma.tryWrite(world.local, 0, size, world.peer, world.remote, 0, world.posted)) {
                world.pollTarget();
                sender.queue.poll(world, World.BATCH);
            }
            world.posted++;
            at = at + 1 == senders.length ? 0 : at + 1;
            while (world.completed < world.posted) {
                if (sender.queue.poll(world, World.BATCH) == 0) { world.pollTarget(); }
            }
            world.pollTarget();
        }
        next = at;
    }

    @Override
    public void close() { World.closeAll(opened); }
}
