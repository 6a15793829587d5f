package io.ofi4j.jmh.compare;

import io.ofi4j.Atomics;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.PreparedRma;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;

/**
 * Operations within one process, through the public API; line for line what {@code work.c} does, and forms of Java that
 * allocate nothing either.
 */
final class Work {
    /** After how many injects progress is made; a power of two. */
    private static final int INJECTS_PER_POLL = 16;

    private final World world;
    private final Rma rma;
    private final Atomics atomics;
    private final MemoryRegion local;
    private final Peer peer;
    private final RemoteRegion remote;
    private final MemoryRegion.Slice slice;
    private final PreparedRma prepared;

    Work(World world, Family family) {
        this.world = world;
        this.rma = world.rma;
        this.atomics = family == Family.ATOMIC ? world.source.atomics() : null;
        this.local = world.local;
        this.peer = world.peer;
        this.remote = world.remote;
        this.slice = local.slice(0, Long.BYTES);
        this.prepared = rma.prepare().local(local, 0, Long.BYTES).remote(remote, 0, Long.BYTES).peer(peer);
    }

    /** Runs so many operations; how many nanoseconds that took. */
    long run(String work, long size, long window, long count) {
        long start = System.nanoTime();
        switch (work) {
            case "write" -> writeEach(size, count);
            case "read" -> readEach(size, count);
            case "inject" -> injectEach(size, count);
            case "writedata" -> writeDataEach(size, count);
            case "poll" -> pollEach(count);
            case "fetchadd" -> fetchAddEach(count);
            case "slices" -> sliceEach(count);
            case "injectadd" -> injectAddEach(count);
            case "prepared" -> preparedEach(count);
            case "stream" -> stream(size, window, count);
            default -> throw new IllegalArgumentException("there is no work called " + work);
        }
        return System.nanoTime() - start;
    }

    /** What is done so many times, one after the other, in {@link Cold}. */
    Cold.Each cold(String work) {
        return switch (work) {
            case "write" -> this::writeEach;
            case "read" -> this::readEach;
            case "inject" -> this::injectAlone;
            case "writedata" -> this::writeDataEach;
            case "prepared" -> (size, count) -> preparedEach(count);
            case "fetchadd" -> (size, count) -> fetchAddEach(count);
            default -> throw new IllegalArgumentException("there is no cold work called " + work);
        };
    }

    private void awaitCompletions(long goal) {
        while (world.completed < goal) {
            if (world.pollQueue() == 0) { world.pollTarget(); }
        }
    }

    private void writeOne(long size) {
        while (!rma.tryWrite(local, 0, size, peer, remote, 0, world.posted)) {
            world.makeProgress();
        }
        world.posted++;
        awaitCompletions(world.posted);
    }

    private void writeEach(long size, long count) {
        for (long done = 0; done < count; done++) {
            writeOne(size);
        }
    }

    /** Writes that were prepared once. */
    private void preparedEach(long count) {
        for (long done = 0; done < count; done++) {
            while (!prepared.tryWrite(world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            awaitCompletions(world.posted);
        }
    }

    private void readEach(long size, long count) {
        for (long done = 0; done < count; done++) {
            while (!rma.tryRead(local, 0, size, peer, remote, 0, world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            awaitCompletions(world.posted);
        }
    }

    private void fetchAddEach(long count) {
        for (long done = 0; done < count; done++) {
            while (!atomics.tryFetch(AtomicOperation.SUM, Datatype.UINT64, local, 0, 1, local, World.LETTER_ROOM, peer,
                    remote, 0, world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            awaitCompletions(world.posted);
        }
    }

    /** As {@link #injectEach}, of a number that is in no region. */
    private void injectAddEach(long count) {
        for (long done = 0; done < count; done++) {
            while (!atomics.tryInject(AtomicOperation.SUM, Datatype.UINT64, done, peer, remote, 0)) {
                world.makeProgress();
            }
            if ((done & INJECTS_PER_POLL - 1) == 0) { world.makeProgress(); }
        }
        fetchAddEach(1);
    }

    /** An inject and a write of the same slice. */
    private void sliceEach(long count) {
        for (long done = 0; done < count; done++) {
            while (!rma.tryInjectWrite(slice.region(), slice.offset(), slice.length(), peer, remote, 0)) {
                world.makeProgress();
            }
            while (!rma.tryWrite(slice.region(), slice.offset(), slice.length(), peer, remote, 0, world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            awaitCompletions(world.posted);
        }
    }

    /** With the target's completion: it, too, is awaited before the next. */
    private void writeDataEach(long size, long count) {
        for (long done = 0; done < count; done++) {
            long goal = world.arrived + 1;
            while (!rma.tryWriteData(local, 0, size, done & 0xff, peer, remote, 0, world.posted)) {
                world.makeProgress();
            }
            world.posted++;
            awaitCompletions(world.posted);
            while (world.arrived < goal) {
                if (world.pollTarget() == 0) { world.pollQueue(); }
            }
        }
    }

    /** A write behind them says that the provider has taken them all. */
    private void injectEach(long size, long count) {
        for (long done = 0; done < count; done++) {
            injectOne(size);
            if ((done & INJECTS_PER_POLL - 1) == 0) { world.makeProgress(); }
        }
        writeOne(size);
    }

    private void injectOne(long size) {
        while (!rma.tryInjectWrite(local, 0, size, peer, remote, 0)) {
            world.makeProgress();
        }
    }

    /** Without progress: what is between two operations makes it. */
    private void injectAlone(long size, long count) {
        for (long done = 0; done < count; done++) {
            injectOne(size);
        }
    }

    private void pollEach(long count) {
        for (long done = 0; done < count; done++) {
            world.pollQueue();
        }
    }

    /** Keeps a window, a power of two, of writes in flight, each with a place of its own. */
    private void stream(long size, long window, long count) {
        long goal = world.posted + count;
        while (world.completed < goal) {
            while (world.posted < goal && world.posted - world.completed < window) {
                long offset = (world.posted & window - 1) * size;
                if (!rma.tryWrite(local, offset, size, peer, remote, offset, world.posted)) { break; }
                world.posted++;
            }
            if (world.pollQueue() == 0) { world.pollTarget(); }
        }
    }
}
