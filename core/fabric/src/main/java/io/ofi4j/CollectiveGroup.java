package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Collective;
import io.ofi4j.info.Datatype;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * An endpoint's place in a group, and the group's operations; fi_collective(3). Returned by {@link Collectives#join}.
 * Offsets are in bytes, counts in elements of the {@link Datatype}. Each operation gives one completion, with its
 * token, on the transmit queue of each member. Do not touch its buffers before that. A member takes part only while it
 * polls: each member must poll until its own operation has completed.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every operation throws
 * IndexOutOfBoundsException if the bytes are not all inside the regions; IllegalArgumentException if a region lacks the
 * right (what is sent {@link Access#SEND}, what is received {@link Access#RECEIVE}) or belongs to another domain, there
 * is no element or too many, no such root, or slices whose lengths do not fit; IllegalStateException if the join has
 * not completed, or the endpoint or a region is closed; WrongThreadException where the domain's threading model gives
 * the endpoint to another thread; UnsupportedOperationException if the provider does not have the operation, see
 * {@link Collectives#valid}, or would do it wrong, as the table of refusals in {@code core/guide/REFUSALS.md} says. A
 * {@code try} form returns false if there is no room; the form without {@code try} then waits, as in {@link Rma}.
 */
public final class CollectiveGroup {
    private static final long SEND = Access.SEND.bit();
    private static final long RECEIVE = Access.RECEIVE.bit();

    private final Collectives family;
    private final long address;
    private final int rank;
    private final int size;
    /** Used inside the guard. */
    boolean joined;
    /** The error of its join, negated, or 0; used inside the guard. */
    int failure;
    private final int[] extraRegions = new int[1];

    CollectiveGroup(Collectives family, long address, int rank, int size) {
        this.family = family;
        this.address = address;
        this.rank = rank;
        this.size = size;
    }

    /** {@return this endpoint's place among the members, from 0} */
    public int rank() { return rank; }

    /** {@return the number of members} */
    public int size() { return size; }

    /**
     * {@return whether this member knows that every member has joined} It looks for the event FI_JOIN_COMPLETE and
     * makes no progress: poll the queue until it returns true.
     */
    public boolean isJoined() {
        if (!joined) { family.readJoin(this); }
        return joined;
    }

    /**
     * Makes progress on the domain's queues until every member has joined.
     *
     * @param deadline the longest time to wait
     * @return this group
     * @throws FabricException if the join has failed, as later calls and {@link #isJoined} do too: join another group
     * @throws FabricTimeoutException if a member has not joined in time. The join goes on: this may be called again
     */
    public CollectiveGroup awaitJoined(Duration deadline) {
        boolean done = Waiting.YIELD.tryUntil(() -> {
            family.endpoint.domain.queues.progress();
            return isJoined();
        }, deadline);
        if (!done) {
            throw new FabricTimeoutException("fi_join_collective", deadline,
                    "Do all " + size + " members join, with the same list, and poll?");
        }
        return this;
    }

    /**
     * Starts a barrier if there is room; fi_barrier, fi_collective(3). It completes when every member has started it.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryBarrier(long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            requireJoined();
            long context = family.acquire(token, 0);
            return context != ContextSlab.NONE
                    && family.accepted(context, family.ops.fi_barrier(address, context), "fi_barrier", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /** As {@link #tryBarrier}, but waits for room. */
    public void barrier(long token) {
        retry("fi_barrier", () -> tryBarrier(token));
    }

    /**
     * Starts sending the root's elements to all members if there is room; fi_broadcast, fi_collective(3).
     *
     * @param datatype the type of the elements
     * @param local the source at the root, and the target at the other members; needs {@link Access#SEND} and
     *         {@link Access#RECEIVE} everywhere, because members pass the elements on
     * @param offset the start of the elements in the region, in bytes
     * @param count the number of elements; a multiple of {@link #size} where the provider would write beyond the
     *         elements
     * @param root the rank of the member that sends
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryBroadcast(Datatype datatype, MemoryRegion local, long offset, long count, int root, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            long length = require(Collective.BROADCAST, datatype, count, 1);
            requireRoot(root);
            requireShared(datatype, count);
            family.requireBuffer(local, SEND | RECEIVE, offset, length);
            long context = family.acquire(token, local.number);
            return context != ContextSlab.NONE
                    && family.accepted(context, family.ops.fi_broadcast(local.address + offset, count, local.descriptor,
                            address, root, datatype.value(), context), "fi_broadcast", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /** As {@link #tryBroadcast}, with the elements of a slice, but waits for room. */
    public void broadcast(Datatype datatype, MemoryRegion.Slice local, int root, long token) {
        long count = local.count(datatype);
        retry("fi_broadcast", () -> tryBroadcast(datatype, local.region(), local.offset(), count, root, token));
    }

    /**
     * Starts a reduction if there is room: element by element over all members, with the result at each; fi_allreduce,
     * fi_collective(3).
     *
     * @param operation from {@link AtomicOperation#MIN} to {@link AtomicOperation#BXOR}, as the provider has it
     * @param datatype the type of the elements
     * @param local this member's elements; needs {@link Access#SEND}
     * @param offset the start of the elements in their region, in bytes
     * @param count the number of elements, the same at each member and in the result
     * @param result where the result goes; needs {@link Access#RECEIVE}
     * @param resultOffset the start of the result in its region, in bytes
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryAllReduce(AtomicOperation operation, Datatype datatype, MemoryRegion local, long offset,
            long count, MemoryRegion result, long resultOffset, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            long length = require(Collective.ALLREDUCE, operation, datatype, count, 1);
            family.requireBuffer(local, SEND, offset, length);
            family.requireBuffer(result, RECEIVE, resultOffset, length);
            long context = acquire(token, local, result);
            return context != ContextSlab.NONE && family.accepted(context,
                    family.ops.fi_allreduce(local.address + offset, count, local.descriptor,
                            result.address + resultOffset, result.descriptor, address, datatype.value(),
                            operation.value(), context),
                    "fi_allreduce", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /** As {@link #tryAllReduce}, with the elements of two slices of the same length, but waits for room. */
    public void allReduce(AtomicOperation operation, Datatype datatype, MemoryRegion.Slice local,
            MemoryRegion.Slice result, long token) {
        requireLength("the result", result, local.length());
        long count = local.count(datatype);
        retry("fi_allreduce", () -> tryAllReduce(operation, datatype, local.region(), local.offset(), count,
                result.region(), result.offset(), token));
    }

    /**
     * Starts collecting the elements of all members at each member, in the order of ranks, if there is room;
     * fi_allgather, fi_collective(3).
     *
     * @param datatype the type of the elements
     * @param local this member's elements; needs {@link Access#SEND}
     * @param offset the start of the elements in their region, in bytes
     * @param count the number of elements of each member; the result has {@link #size} times as many
     * @param result where the elements of all members go; needs {@link Access#RECEIVE}
     * @param resultOffset the start of the result in its region, in bytes
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryAllGather(Datatype datatype, MemoryRegion local, long offset, long count, MemoryRegion result,
            long resultOffset, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            long length = require(Collective.ALLGATHER, datatype, count, 1);
            family.requireBuffer(local, SEND, offset, length);
            family.requireBuffer(result, RECEIVE, resultOffset, length * size);
            long context = acquire(token, local, result);
            return context != ContextSlab.NONE && family.accepted(context,
                    family.ops.fi_allgather(local.address + offset, count, local.descriptor,
                            result.address + resultOffset, result.descriptor, address, datatype.value(), context),
                    "fi_allgather", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /**
     * As {@link #tryAllGather}, with the elements of a slice, but waits for room.
     *
     * @param result {@link #size} times as long as {@code local}
     */
    public void allGather(Datatype datatype, MemoryRegion.Slice local, MemoryRegion.Slice result, long token) {
        requireLength("the result", result, local.length() * size);
        long count = local.count(datatype);
        retry("fi_allgather", () -> tryAllGather(datatype, local.region(), local.offset(), count, result.region(),
                result.offset(), token));
    }

    /**
     * Starts sending each member its part of the root's elements, in the order of ranks, if there is room; fi_scatter,
     * fi_collective(3).
     *
     * @param datatype the type of the elements
     * @param local the root's elements, {@code count} for each member, with {@link Access#SEND}; ignored at other
     *         members, where it may be null
     * @param offset the start of the elements in their region, in bytes
     * @param count the number of elements that each member receives
     * @param result where this member's part goes; needs {@link Access#RECEIVE}
     * @param resultOffset the start of that part in its region, in bytes
     * @param root the rank of the member that sends
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryScatter(Datatype datatype, MemoryRegion local, long offset, long count, MemoryRegion result,
            long resultOffset, int root, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            long length = require(Collective.SCATTER, datatype, count, largestShare());
            requireRoot(root);
            MemoryRegion source = rank == root ? local : result;
            long sourceOffset = rank == root ? offset : resultOffset;
            if (rank == root) { family.requireBuffer(local, SEND, offset, length * size); }
            family.requireBuffer(result, RECEIVE, resultOffset, length);
            long context = acquire(token, source, result);
            return context != ContextSlab.NONE && family.accepted(context,
                    family.ops.fi_scatter(source.address + sourceOffset, count, source.descriptor,
                            result.address + resultOffset, result.descriptor, address, root, datatype.value(), context),
                    "fi_scatter", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /**
     * As {@link #tryScatter}, with the elements of slices, but waits for room.
     *
     * @param local at the root {@link #size} times as long as {@code result}; ignored at other members, where it may be
     *         null
     * @param result this member's part, as long at each member
     */
    public void scatter(Datatype datatype, MemoryRegion.Slice local, MemoryRegion.Slice result, int root, long token) {
        MemoryRegion.Slice source = rank == root ? local : result;
        if (rank == root) { requireLength("the source", local, result.length() * size); }
        long count = result.count(datatype);
        retry("fi_scatter", () -> tryScatter(datatype, source.region(), source.offset(), count, result.region(),
                result.offset(), root, token));
    }

    /**
     * {@return the largest number of members whose parts one message of a scatter or a broadcast carries: half of them,
     * rounded up}
     */
    private int largestShare() { return (size + 1) / 2; }

    private void requireJoined() {
        if (family.endpoint.isClosed()) { throw family.endpoint.closed(); }
        if (!joined) { throw new IllegalStateException(this + " is not joined: call awaitJoined first"); }
    }

    /**
     * {@return the length of the elements in bytes} A message between two members carries at most {@code share} times
     * that length.
     */
    private long require(Collective collective, Datatype datatype, long count, int share) {
        return require(collective, AtomicOperation.MIN, datatype, count, share);
    }

    private long require(Collective collective, AtomicOperation operation, Datatype datatype, long count, int share) {
        requireJoined();
        if (family.maxMembers(collective, operation, datatype) < size) {
            throw refusal(
                    collective == Collective.ALLREDUCE ? collective + " with " + operation : collective.toString(),
                    datatype);
        }
        long maxCount = Math.min(family.maximumMessageSize / size, Integer.MAX_VALUE) / datatype.size();
        long maxMessageElements = family.maxMessage / datatype.size();
        maxCount = Math.min(maxCount,
                collective == Collective.BROADCAST
                        ? maxMessageElements / largestShare() * size
                        : maxMessageElements / share);
        if (count < 1 || count > maxCount) {
            throw new IllegalArgumentException(collective + " of " + datatype + " among " + size + " takes 1 to "
                    + maxCount + " elements on provider " + family.provider + ", not " + count + ": "
                    + (family.longMessageRefusal == null
                            ? "do it in parts, or use JobCollectives"
                            : family.longMessageRefusal));
        }
        return count * datatype.size();
    }

    private void requireShared(Datatype datatype, long count) {
        if (family.unevenBroadcastRefusal != null && count % size != 0) {
            throw new IllegalArgumentException(count + " elements of " + datatype + " are not a multiple of " + size
                    + ", the number of members: " + family.unevenBroadcastRefusal);
        }
    }

    private void requireLength(String what, MemoryRegion.Slice slice, long length) {
        if (slice.length() != length) {
            throw new IllegalArgumentException(
                    what + " has " + slice.length() + " bytes; among " + size + " members it needs " + length);
        }
    }

    private void requireRoot(int root) {
        if (root < 0 || root >= size) {
            throw new IllegalArgumentException("the root must be a rank from 0 to " + (size - 1) + ", not " + root);
        }
    }

    private UnsupportedOperationException refusal(String what, Datatype datatype) {
        return new UnsupportedOperationException(what + " of " + datatype + " among " + size
                + " is not offered by the provider " + family.provider + ": ask valid(...), or use JobCollectives");
    }

    private long acquire(long token, MemoryRegion local, MemoryRegion result) {
        long context = family.acquire(token, local.number);
        if (context != ContextSlab.NONE && local != result) {
            extraRegions[0] = result.number;
            family.contexts.addExtraRegions(context, extraRegions, 1);
        }
        return context;
    }

    private void retry(String call, BooleanSupplier attempt) {
        if (!attempt.getAsBoolean()) { family.awaitRoom(call, null, attempt); }
    }

    @Override
    public String toString() { return "group of " + size + ", rank " + rank; }
}
