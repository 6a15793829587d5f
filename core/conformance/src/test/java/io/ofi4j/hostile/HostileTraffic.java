package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;

/** A pair of endpoints, and operations of RMA and of one other family from the near one to the far one. */
final class HostileTraffic {
    private static final int LENGTH = 4096;
    private static final int GUARD_LENGTH = 64;
    private static final byte GUARD = 0x5a;
    /** No message is longer than a receive. */
    private static final int MESSAGE = 64;
    private static final int TAGS = 3;
    /** Of a reduction, which is always the same: nobody compares what the members post. */
    private static final int ELEMENTS = 8;
    /** Operations in flight of an end that reduces: libfabric never frees what a close breaks off, see tcp-rxm.md. */
    private static final int REDUCTIONS = 128;

    /** Takes completions, also of what failed. */
    static final CompletionHandler IGNORE = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // It has done what it had to.
        }

        @Override
        public void onError(CompletionError error) {
            // The other end has closed, or this one.
        }
    };

    final Pair pair;
    final Capability family;
    final MemoryRegion near;
    final MemoryRegion far;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2 * LENGTH + 3 * GUARD_LENGTH, 64).fill(GUARD);
    private final RemoteRegion there;
    /** The near end, as the far one knows it, where receives may be from one peer. */
    private final Peer back;
    /** Of both ends, where the family is that of collectives. */
    private final CollectiveGroup group;
    private final CollectiveGroup farGroup;

    HostileTraffic(String provider, Capability family) {
        this.family = family;
        boolean isDirected = HostileFamilies.isDirected(provider, family);
        this.pair = new Pair(HostileFamilies.hints(provider, family));
        this.back = isDirected ? pair.vector.insert(pair.endpoint.address()) : null;
        this.near = pair.domain.register(memory.asSlice(GUARD_LENGTH, LENGTH), Access.values());
        this.far = pair.domain.register(memory.asSlice(LENGTH + 2 * GUARD_LENGTH, LENGTH), Access.values());
        this.there = far.remote();
        boolean joins = family == Capability.COLLECTIVE;
        List<Peer> members = joins ? List.of(pair.vector.insert(pair.endpoint.address()), pair.far) : List.of();
        this.group = joins ? pair.endpoint.collectives().join(members) : null;
        this.farGroup = joins ? pair.farEndpoint.collectives().join(members) : null;
        if (joins) {
            group.awaitJoined(Pair.DEADLINE);
            farGroup.awaitJoined(Pair.DEADLINE);
        }
    }

    /** {@return whether one of some operations could be posted} */
    boolean tryPost(Random random, long token) {
        long length = random.nextInt(MESSAGE);
        long offset = offset(random);
        return switch (random.nextInt(3)) {
            case 0 -> pair.rma().tryWrite(near, offset, length, pair.far, there, offset, token);
            case 1 -> pair.rma().tryRead(near, offset, length, pair.far, there, offset, token);
            default -> switch (family) {
                case ATOMIC -> pair.endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 1, near, offset,
                        pair.far, there, offset, token);
                case MSG -> pair.endpoint.messages().trySend(near, offset, length, pair.far, token);
                case TAGGED ->
                    pair.endpoint.tagged().trySend(near, offset, length, pair.far, random.nextInt(TAGS), token);
                case COLLECTIVE -> tryReduce(pair.endpoint, group, near, token);
                default -> pair.rma().tryWriteData(near, offset, length, 7, pair.far, there, offset, token);
            };
        };
    }

    /** Waits until one of some operations could be posted. */
    void post(Random random, long token) {
        long length = random.nextInt(MESSAGE);
        long offset = offset(random);
        boolean isFull = family == Capability.COLLECTIVE && isFull(pair.endpoint);
        switch (isFull || random.nextBoolean() ? Capability.RMA : family) {
            case ATOMIC -> pair.endpoint.atomics().fetch(AtomicOperation.SUM, Datatype.INT64, 1, near.slice(offset, 16),
                    pair.far, there.slice(offset, 8), token);
            case MSG -> pair.endpoint.messages().send(near.slice(offset, length), pair.far, token);
            case TAGGED ->
                pair.endpoint.tagged().send(near.slice(offset, length), pair.far, random.nextInt(TAGS), token);
            case COLLECTIVE -> group.allReduce(AtomicOperation.SUM, Datatype.INT64, near.slice(0, 8L * ELEMENTS),
                    near.slice(LENGTH / 2, 8L * ELEMENTS), token);
            default -> pair.rma().write(near.slice(offset, length), pair.far, there.slice(offset, length), token);
        }
    }

    private static boolean isFull(Endpoint endpoint) { return endpoint.statistics().inFlight() >= REDUCTIONS; }

    private static boolean tryReduce(Endpoint endpoint, CollectiveGroup group, MemoryRegion region, long token) {
        return !isFull(endpoint) && group.tryAllReduce(AtomicOperation.SUM, Datatype.INT64, region, 0, ELEMENTS, region,
                LENGTH / 2, token);
    }

    /**
     * {@return whether the far end could post a receive, or its part of a reduction; never where the family has none}
     */
    boolean tryReceive(Random random, long token) {
        long offset = offset(random);
        if (back != null && random.nextInt(4) == 0) {
            try {
                return family == Capability.MSG
                        ? pair.farEndpoint.messages().tryReceive(far, offset, MESSAGE, back, token)
                        : pair.farEndpoint.tagged().tryReceive(far, offset, MESSAGE, back, random.nextInt(TAGS), 0,
                                token);
            } catch (UnsupportedOperationException e) {
                // as from any peer, then
            }
        }
        return switch (family) {
            case MSG -> pair.farEndpoint.messages().tryReceive(far, offset, MESSAGE, token);
            case TAGGED -> pair.farEndpoint.tagged().tryReceive(far, offset, MESSAGE, random.nextInt(TAGS), 0, token);
            case COLLECTIVE -> tryReduce(pair.farEndpoint, farGroup, far, token);
            default -> false;
        };
    }

    /** Takes back the far end's receive, if it is still there. */
    void cancel(long token) {
        if (family == Capability.MSG) { pair.farEndpoint.messages().cancel(token); }
        if (family == Capability.TAGGED) { pair.farEndpoint.tagged().cancel(token); }
    }

    /** Lets the far end go on, and receive whatever may come. */
    void serve(Random random, CompletionHandler handler) {
        tryReceive(random, 0);
        pair.farQueue.poll(handler, 16);
    }

    private static long offset(Random random) { return 8L * random.nextInt(LENGTH / 16); }

    /** Closes everything, after the near end's last completions are told. */
    void close(CompletionHandler handler) {
        pair.endpoint.close();
        while (pair.queue.poll(handler, 64) > 0) {
            Thread.onSpinWait();
        }
        near.close();
        pair.farEndpoint.close();
        far.close();
        pair.close();
    }

    /** Fails if memory beside the regions was written; they are closed. */
    void requireGuards(HostileRun run) {
        for (int guard = 0; guard < 3; guard++) {
            for (int i = 0; i < GUARD_LENGTH; i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, (long) guard * (LENGTH + GUARD_LENGTH) + i) != GUARD) {
                    run.fail(new AssertionError(family + ": memory beside a region was written"));
                }
            }
        }
        arena.close();
    }
}
