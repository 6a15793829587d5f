package io.ofi4j.jmh.compare;

import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Tagged;

/** Messages within one process, through the public API; line for line what {@code messages.c} does. */
final class MessageWork {
    /** How many receives each endpoint has posted, and how long they are. */
    private static final int RECEIVES = 128;
    private static final int ROOM = 64;
    /** Set in the tokens of receives. */
    private static final long RECEIVE = 1L << 62;

    private final Side source;
    private final Side target;
    private long posted;
    private long completed;

    /** One of both ends. A class for both queues: a direct call. */
    private final class Side implements CompletionHandler {
        private final Messages messages;
        private final Tagged tagged;
        private final MemoryRegion region;
        private final CompletionQueue queue;
        private final Peer other;
        private final long tag;
        private final long otherTag;
        private long received;

        Side(Family family, Endpoint endpoint, MemoryRegion region, CompletionQueue queue, Peer other, long tag,
                long otherTag) {
            this.messages = family == Family.MSG ? endpoint.messages() : null;
            this.tagged = family == Family.TAGGED ? endpoint.tagged() : null;
            this.region = region;
            this.queue = queue;
            this.other = other;
            this.tag = tag;
            this.otherTag = otherTag;
            for (int slot = 0; slot < RECEIVES; slot++) {
                postReceive(slot);
            }
        }

        /** Receives have the second half of the region. */
        private void postReceive(int slot) {
            long offset = region.length() / 2 + (long) slot * ROOM;
            boolean posted = messages != null
                    ? messages.tryReceive(region, offset, ROOM, RECEIVE | slot)
                    : tagged.tryReceive(region, offset, ROOM, tag, 0, RECEIVE | slot);
            if (!posted) { throw new BenchFailure("there is no room for " + RECEIVES + " receives"); }
        }

        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token >= RECEIVE) {
                received++;
                postReceive((int) token);
            } else {
                completed++;
            }
        }

        int poll() { return queue.poll(this, World.BATCH); }

        boolean trySend(long size) {
            boolean accepted = messages != null
                    ? messages.trySend(region, 0, size, other, posted)
                    : tagged.trySend(region, 0, size, other, otherTag, posted);
            if (accepted) { posted++; }
            return accepted;
        }
    }

    MessageWork(World world, Family family) {
        source = new Side(family, world.source, world.local, world.queue, world.peer, 1, 2);
        target = new Side(family, world.target, world.memory, world.targetQueue,
                world.vector.insert(world.source.address()), 2, 1);
    }

    /** Runs so many operations; how many nanoseconds that took. */
    long run(String work, long size, long window, long count) {
        long start = System.nanoTime();
        switch (work) {
            case "roundtrip" -> roundTripEach(size, count);
            case "messages" -> stream(size, window, count);
            default -> throw new IllegalArgumentException("there is no work of messages called " + work);
        }
        return System.nanoTime() - start;
    }

    /** As {@link Work#cold}. */
    Cold.Each cold(String work) {
        return switch (work) {
            case "roundtrip" -> this::roundTripEach;
            case "messages" -> (size, count) -> stream(size, 1, count);
            default -> throw new IllegalArgumentException("there is no cold work of messages called " + work);
        };
    }

    private void pollBoth() {
        target.poll();
        source.poll();
    }

    /** One message, and its arrival. */
    private void deliver(Side from, Side to, long size) {
        long goal = to.received + 1;
        while (!from.trySend(size)) {
            pollBoth();
        }
        while (to.received < goal) {
            if (to.poll() == 0) { from.poll(); }
        }
    }

    private void roundTripEach(long size, long count) {
        for (long done = 0; done < count; done++) {
            deliver(source, target, size);
            deliver(target, source, size);
        }
        while (completed < posted) {
            pollBoth();
        }
    }

    /** Keeps a window of messages in flight, never more than there are receives for. */
    private void stream(long size, long window, long count) {
        long goal = posted + count;
        long goalOfTarget = target.received + count;
        long first = posted - target.received;
        while (completed < goal || target.received < goalOfTarget) {
            while (posted < goal && posted - completed < window && posted - target.received - first < RECEIVES) {
                if (!source.trySend(size)) { break; }
            }
            pollBoth();
        }
    }
}
