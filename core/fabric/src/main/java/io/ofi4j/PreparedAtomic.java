package io.ofi4j;

import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.AtomicLimits;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.PreparedAtomicStruct;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.quirks.Fact;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * A prepared atomic operation on elements of one type: local segments of operands, comparands and results, remote
 * segments, peer, flags and completion data, which can be changed one by one and posted again; fi_atomic(3). Made by
 * {@link Atomics#prepare}, for one endpoint. One without flags and with one remote segment makes the call fi_atomicv,
 * any other fi_atomicmsg; the same holds for fetches and compares. Offsets are in bytes, counts in elements. Changes
 * allocate nothing. Only the thread that made it may change and post it; others get WrongThreadException. Setters
 * return this operation.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if
 * it has no element, there are too many segments, a region belongs to another domain, a peer to another vector, a
 * target is not aligned, or the data is too long. Posting methods throw what those of {@link Atomics} throw. In
 * addition, they throw IllegalArgumentException if there are too many bytes for {@link OperationFlag#INJECT}, or a
 * fetch or compare does not take the flags, and IllegalStateException if the peer or segments are missing, or the
 * numbers of elements differ.
 */
public final class PreparedAtomic extends Prepared<PreparedAtomic> {
    private static final int LISTS = 3;
    /** The most segments of one list, so that the queue remembers the regions of all. */
    static final int MAX_LOCAL = ContextSlab.MAX_EXTRA_REGIONS / LISTS;

    private static final long EXECUTE_ONLY_FLAGS = OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit();

    private final PreparedAtomicStruct struct;
    private final Atomics atomics;
    private final Datatype datatype;
    private final Segments operands;
    private final Segments results;
    private final Segments comparands;
    private final Segments remote;
    /** The regions of an operation after the first. */
    private final int[] extraRegions = new int[ContextSlab.MAX_EXTRA_REGIONS];

    PreparedAtomic(Atomics atomics, Datatype datatype, PreparedAtomicStruct struct) {
        super(atomics, struct);
        this.atomics = atomics;
        this.datatype = datatype;
        this.struct = struct;
        this.operands = Segments.local(atomics, "operand ", struct.operand);
        this.results = Segments.local(atomics, "result ", struct.result);
        this.comparands = Segments.local(atomics, "comparand ", struct.compare);
        this.remote = Segments.remote(atomics, struct.remote);
    }

    /** {@return the largest number of segments of operands; the same holds for comparands and for results} */
    public int localLimit() {
        return operands.limit();
    }

    /** {@return the largest number of remote segments} */
    public int remoteLimit() { return remote.limit(); }

    /** Removes every segment; flags, data and peer stay. */
    public PreparedAtomic clear() {
        requireOwner();
        operands.clear();
        results.clear();
        comparands.clear();
        remote.clear();
        return this;
    }

    /**
     * Adds a local segment of operands, which needs {@link Access#WRITE}. There may be {@link #localLimit} of them.
     *
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region, in bytes
     * @param count the number of elements
     */
    public PreparedAtomic local(MemoryRegion region, long offset, long count) {
        return add(operands, region, offset, count);
    }

    /** As {@link #local}, but adds a segment of comparands, which needs {@link Access#WRITE}. */
    public PreparedAtomic comparand(MemoryRegion region, long offset, long count) {
        return add(comparands, region, offset, count);
    }

    /** As {@link #local}, but adds a segment for previous values, which needs {@link Access#READ}. */
    public PreparedAtomic result(MemoryRegion region, long offset, long count) {
        return add(results, region, offset, count);
    }

    /**
     * Adds a remote segment: elements of the target. There may be {@link #remoteLimit} of them.
     *
     * @param region the peer's region
     * @param offset the start of the segment in the region, in bytes
     * @param count the number of elements
     */
    public PreparedAtomic remote(RemoteRegion region, long offset, long count) {
        requireOwner();
        requireTarget(region, offset, count);
        remote.add(region, offset, count);
        return this;
    }

    /**
     * Replaces one local segment of operands. The other segments stay.
     *
     * @param index its position, from 0, in the order of addition
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region, in bytes
     * @param count the number of elements
     */
    public PreparedAtomic replaceLocal(int index, MemoryRegion region, long offset, long count) {
        return replace(operands, index, region, offset, count);
    }

    /** Replaces one segment of comparands, as {@link #replaceLocal} does one of operands. */
    public PreparedAtomic replaceComparand(int index, MemoryRegion region, long offset, long count) {
        return replace(comparands, index, region, offset, count);
    }

    /** Replaces one segment of results, as {@link #replaceLocal} does one of operands. */
    public PreparedAtomic replaceResult(int index, MemoryRegion region, long offset, long count) {
        return replace(results, index, region, offset, count);
    }

    /** Replaces one remote segment, as {@link #replaceLocal} does one of operands. */
    public PreparedAtomic replaceRemote(int index, RemoteRegion region, long offset, long count) {
        requireOwner();
        requireTarget(region, offset, count);
        remote.replace(index, region, offset, count);
        return this;
    }

    private PreparedAtomic add(Segments list, MemoryRegion region, long offset, long count) {
        requireOwner();
        requireInside("", offset, count, region.length);
        list.add(region, offset, count);
        return this;
    }

    private PreparedAtomic replace(Segments list, int index, MemoryRegion region, long offset, long count) {
        requireOwner();
        requireInside("", offset, count, region.length);
        list.replace(index, region, offset, count);
        return this;
    }

    private void requireTarget(RemoteRegion region, long offset, long count) {
        requireInside("remote ", offset, count, region.length());
        Atomics.requireAligned(region, offset, datatype);
    }

    private void requireInside(String where, long offset, long count, long length) {
        if (count < 1) { throw new IllegalArgumentException("a segment has at least one element, not " + count); }
        if (offset < 0 || count > (length - offset) / datatype.size()) {
            throw new IndexOutOfBoundsException(count + " elements of " + datatype + " at " + where + "offset " + offset
                    + " are not inside a region of " + length + " bytes");
        }
    }

    /**
     * Starts changing the remote segments if there is room; fi_atomicv or fi_atomicmsg, fi_atomic(3).
     *
     * @param operation what happens to each element
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryExecute(AtomicOperation operation, long token) {
        return tryPost(AtomicForm.EXECUTE, operation, token);
    }

    /** As {@link #tryExecute}, but waits for room. */
    public void execute(AtomicOperation operation, long token) {
        post(AtomicForm.EXECUTE, operation, token);
    }

    /**
     * As {@link #tryExecute}, and brings the previous values of the target; fi_fetch_atomicv or fi_fetch_atomicmsg.
     */
    public boolean tryFetch(AtomicOperation operation, long token) {
        return tryPost(AtomicForm.FETCH, operation, token);
    }

    /** As {@link #tryFetch}, but waits for room. */
    public void fetch(AtomicOperation operation, long token) {
        post(AtomicForm.FETCH, operation, token);
    }

    /** As {@link #tryFetch}, with comparands; fi_compare_atomicv or fi_compare_atomicmsg. */
    public boolean tryCompare(AtomicOperation operation, long token) {
        return tryPost(AtomicForm.COMPARE, operation, token);
    }

    /** As {@link #tryCompare}, but waits for room. */
    public void compare(AtomicOperation operation, long token) {
        post(AtomicForm.COMPARE, operation, token);
    }

    private boolean isVector() { return flags == 0 && remote.count == 1; }

    private void post(AtomicForm form, AtomicOperation operation, long token) {
        if (!tryPost(form, operation, token)) {
            atomics.awaitRoom(AtomicLimits.call(form, !isVector()), peer, () -> tryPost(form, operation, token));
        }
    }

    private boolean tryPost(AtomicForm form, AtomicOperation operation, long token) {
        requireSuits(form, operation);
        boolean entered = ThreadGuard.enter(atomics.guard, atomics.unlockedThread);
        try {
            requireOpen(form);
            long context = atomics.contexts.acquire(token, atomics.numberFor(effectiveFlags()), operands.firstRegion);
            if (context == ContextSlab.NONE) { return false; }
            addExtraRegions(form, context);
            struct.prepare(operation.value(), context);
            return atomics.accepted(context, submit(form, operation.value(), context),
                    AtomicLimits.call(form, !isVector()), peer);
        } finally {
            ThreadGuard.exit(atomics.guard, entered);
        }
    }

    private long submit(AtomicForm form, int operation, long context) {
        if (isVector()) {
            return switch (form) {
                case EXECUTE -> atomics.ops.fi_atomicv(struct, operation, context);
                case FETCH -> atomics.ops.fi_fetch_atomicv(struct, operation, context);
                case COMPARE -> atomics.ops.fi_compare_atomicv(struct, operation, context);
            };
        }
        long requested = effectiveFlags() | FabricConstants.FI_COMPLETION;
        return switch (form) {
            case EXECUTE -> atomics.ops.fi_atomicmsg(struct, requested);
            case FETCH -> atomics.ops.fi_fetch_atomicmsg(struct, requested);
            case COMPARE -> atomics.ops.fi_compare_atomicmsg(struct, requested);
        };
    }

    private void addExtraRegions(AtomicForm form, long context) {
        int more = 0;
        for (int list = 0; list <= form.ordinal(); list++) {
            Segments segments = list(list);
            for (int i = list == 0 ? 1 : 0; i < segments.count; i++) {
                extraRegions[more++] = segments.regions[i].number;
            }
        }
        if (more > 0) { atomics.contexts.addExtraRegions(context, extraRegions, more); }
    }

    /** {@return the list with this number} A form has the lists 0 to its own number. */
    private Segments list(int number) {
        return number == 0 ? operands : number == 1 ? results : comparands;
    }

    MemoryRegion[] regionsInUse(AtomicForm form) {
        return IntStream.rangeClosed(0, form.ordinal()).mapToObj(this::list)
                .flatMap(list -> Arrays.stream(list.regions, 0, list.count)).toArray(MemoryRegion[]::new);
    }

    /** {@return the struct that queues this operation} Makes the checks of a post that do not need the guard. */
    DeferredWorkStruct deferred(AtomicForm form, AtomicOperation operation) {
        requireSuits(form, operation);
        if (remote.count > operands.count) { endpoint().quirks.require(Fact.DEFERRED_ATOMICS_LOSE_TARGETS); }
        struct.prepare(operation.value(), 0);
        return switch (form) {
            case EXECUTE -> DeferredWorkStruct.execute(atomics.endpoint.handle, struct, flags);
            case FETCH -> DeferredWorkStruct.fetch(atomics.endpoint.handle, struct, flags);
            case COMPARE -> DeferredWorkStruct.compare(atomics.endpoint.handle, struct, flags);
        };
    }

    /** Makes the checks of a post that need the guard. */
    void requireOpen(AtomicForm form) {
        atomics.requireOpen(operands, peer);
        if (form != AtomicForm.EXECUTE) { atomics.requireOpen(results); }
        if (form == AtomicForm.COMPARE) { atomics.requireOpen(comparands); }
    }

    private void requireSuits(AtomicForm form, AtomicOperation operation) {
        requireOwner();
        requirePeer();
        for (int list = 0; list <= form.ordinal(); list++) {
            requireSameNumber(list(list));
        }
        long bytes = atomics.limits.bytes(form, operation, datatype, remote.amount);
        if (form != AtomicForm.EXECUTE && (flags & EXECUTE_ONLY_FLAGS) != 0) {
            throw new IllegalArgumentException("a fetch or compare takes neither REMOTE_CQ_DATA nor INJECT");
        }
        if (has(OperationFlag.INJECT)) { atomics.requireInjectable(bytes); }
        requireRights(form, operation);
    }

    private void requireSameNumber(Segments list) {
        if (list.amount != remote.amount || list.amount == 0) {
            throw new IllegalStateException(
                    "the operation has " + list.amount + " elements in " + list.word + "segments and " + remote.amount
                            + " in remote ones: it needs the same number in both, at least 1");
        }
    }

    private void requireRights(AtomicForm form, AtomicOperation operation) {
        operands.requireRights(Atomics.WRITE);
        if (form != AtomicForm.EXECUTE) {
            results.requireRights(Atomics.READ);
            remote.requireRights(Atomics.REMOTE_READ);
        }
        if (form == AtomicForm.COMPARE) { comparands.requireRights(Atomics.WRITE); }
        if (operation != AtomicOperation.ATOMIC_READ) { remote.requireRights(Atomics.REMOTE_WRITE); }
    }
}
