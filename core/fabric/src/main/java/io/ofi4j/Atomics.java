package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.AtomicLimits;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.AtomicOps;
import io.ofi4j.internal.ffi.PreparedAtomicStruct;
import io.ofi4j.internal.quirks.Fact;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Operations that read and change a peer's memory in one step; fi_atomic(3). Returned by {@link Endpoint#atomics}; ask
 * for them with {@link FabricHints#atomics}. Offsets are in bytes, counts in elements of the {@link Datatype}. Each
 * element is changed in one step, several elements are not. Posting allocates nothing.
 *
 * <p><b>Forms.</b> {@code execute} changes the target. {@code fetch} also brings its previous value. {@code compare}
 * also takes a comparand. {@code inject} is {@code execute} without a completion, for up to {@link #injectSize} bytes;
 * its local bytes may be changed when it returns.
 *
 * <p><b>Numbers.</b> The forms that take a number work on one element: the number, converted to the datatype as
 * {@link Datatype#put(MemorySegment, long, long)} does. An inject needs no local memory. A fetch or a compare
 * uses a <i>cell</i>: values of the datatype next to each other, at the offset of a region with {@link Access#READ} and
 * {@link Access#WRITE}. The first value becomes the result, the second is the operand, and the third, of a compare
 * only, is the comparand; operand and comparand are put there before anything else is checked. A cell is in use until
 * its operation has completed.
 *
 * <p><b>Slices.</b> The forms without {@code try} take a {@link MemoryRegion.Slice} and change as many elements as it
 * has, from the start of the remote region, which may be a {@link RemoteRegion#slice slice} too. Slices of operands,
 * comparands and results have the same length.
 *
 * <p><b>Targets.</b> The remote base and offset together must be a multiple of {@link Datatype#size}. A target needs
 * {@link Access#REMOTE_WRITE} for {@code execute}, {@link Access#REMOTE_READ} for a fetch with
 * {@link AtomicOperation#ATOMIC_READ}, and both for everything else. Atomic operations are atomic with respect to each
 * other. They are not with respect to writes of peers, or to threads of the target that use the same bytes, unless the
 * provider says so: change shared numbers with atomic operations only.
 *
 * <p>Completions and full queues are as in {@link Rma}. When a fetch completes, its result is in local memory.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every operation throws
 * UnsupportedOperationException if the provider does not have it, see {@link #valid}, or would do it wrong, as the
 * table of refusals in {@code core/guide/REFUSALS.md} says; IndexOutOfBoundsException if the bytes are not all inside
 * the regions; IllegalArgumentException if there is no element or too many, the target is not aligned, a region lacks
 * the right or belongs to another domain, or the peer belongs to another vector; IllegalStateException if the endpoint
 * or a local region is closed, or the peer was removed; WrongThreadException where the domain's {@link ThreadingModel}
 * gives the endpoint to another thread; FabricException if the provider reports an error.
 */
public final class Atomics extends OneSided {
    private static final String INJECT = "fi_inject_atomic";

    final AtomicOps ops;
    final AtomicLimits limits;
    /** The regions of an operation after the first; used inside the guard. */
    private final int[] extraRegions = new int[2];
    /** The operand of an inject of a number, which the provider copies; used inside the guard. */
    private final MemorySegment injected = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

    Atomics(Endpoint endpoint) {
        super(endpoint);
        endpoint.quirks.require(Fact.ATOMICS_BREAK);
        this.ops = new AtomicOps(endpoint.handle, domain.queues.hasCriticalPosts(endpoint));
        this.limits = new AtomicLimits(ops, endpoint.quirks.refusal(Fact.ATOMICS_ONLY_COPY),
                endpoint.quirks.refusal(Fact.ATOMICS_OF_FLOATS_BREAK), endpoint.quirks.refusal(Fact.WIDE_ATOMICS_CRASH),
                endpoint.quirks.refusal(Fact.ATOMIC_READS_RETURN_NOTHING), provider);
        if (limits.isEmpty()) {
            throw new UnsupportedOperationException(
                    "the provider " + provider + " claims atomic operations, but offers none: use another provider");
        }
    }

    /**
     * {@return the largest number of elements of an operation, or 0 if the provider does not have it; fi_atomicvalid,
     * fi_fetch_atomicvalid or fi_compare_atomicvalid, fi_atomic(3)}
     */
    public long valid(AtomicForm form, AtomicOperation operation, Datatype datatype) {
        return limits.maxCount(form, operation, datatype);
    }

    /**
     * Starts changing a peer's memory if there is room; fi_atomic, fi_atomic(3).
     *
     * @param operation what happens to each element
     * @param datatype the type of the elements
     * @param local the operands; needs {@link Access#WRITE}
     * @param offset the start of the operands in the local region, in bytes
     * @param count the number of elements, 1 to {@link #valid}
     * @param peer the owner of the target
     * @param remote the target
     * @param remoteOffset the start of the target in the remote region, in bytes
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryExecute(AtomicOperation operation, Datatype datatype, MemoryRegion local, long offset, long count,
            Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            long length = limits.bytes(AtomicForm.EXECUTE, operation, datatype, count);
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            requireAligned(remote, remoteOffset, datatype);
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(context,
                    ops.fi_atomic(local.address + offset, count, local.descriptor, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), datatype.value(), operation.value(), context),
                    AtomicLimits.call(AtomicForm.EXECUTE), peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #tryExecute}, but takes a slice and the start of the remote region, and waits for room.
     *
     * @throws IllegalArgumentException if the slice ends inside an element
     */
    public void execute(AtomicOperation operation, Datatype datatype, MemoryRegion.Slice local, Peer peer,
            RemoteRegion remote, long token) {
        long count = local.count(datatype);
        if (!tryExecute(operation, datatype, local.region(), local.offset(), count, peer, remote, 0, token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.EXECUTE), peer, () -> tryExecute(operation, datatype, local.region(),
                    local.offset(), count, peer, remote, 0, token));
        }
    }

    /** As {@link #tryExecute}, but without a completion, for up to {@link #injectSize} bytes; fi_inject_atomic. */
    public boolean tryInject(AtomicOperation operation, Datatype datatype, MemoryRegion local, long offset, long count,
            Peer peer, RemoteRegion remote, long remoteOffset) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            long length = limits.bytes(AtomicForm.EXECUTE, operation, datatype, count);
            require(local, WRITE, offset, length, injectSize, peer, remote, REMOTE_WRITE, remoteOffset);
            requireAligned(remote, remoteOffset, datatype);
            return accepted(
                    ops.fi_inject_atomic(local.address + offset, count, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), datatype.value(), operation.value()),
                    INJECT, peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #tryInject(AtomicOperation, Datatype, MemoryRegion, long, long, Peer, RemoteRegion, long)}, but takes a
     * slice and the start of the remote region, and waits for room.
     *
     * @throws IllegalArgumentException if the slice ends inside an element
     */
    public void inject(AtomicOperation operation, Datatype datatype, MemoryRegion.Slice local, Peer peer,
            RemoteRegion remote) {
        long count = local.count(datatype);
        if (!tryInject(operation, datatype, local.region(), local.offset(), count, peer, remote, 0)) {
            awaitRoom(INJECT, peer,
                    () -> tryInject(operation, datatype, local.region(), local.offset(), count, peer, remote, 0));
        }
    }

    /**
     * As {@link #tryInject(AtomicOperation, Datatype, MemoryRegion, long, long, Peer, RemoteRegion, long)}, for one
     * element, whose value is an argument: it needs no local region.
     *
     * @param operand the value, as an element of the datatype: {@link Datatype#put(MemorySegment, long, long)}
     * @throws IllegalArgumentException if the datatype has no such value
     */
    public boolean tryInject(AtomicOperation operation, Datatype datatype, long operand, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            datatype.put(injected, 0, operand);
            return injectNumber(operation, datatype, peer, remote, remoteOffset);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #tryInject(AtomicOperation, Datatype, long, Peer, RemoteRegion, long)}, with a value of type
     * {@code double}.
     */
    public boolean tryInject(AtomicOperation operation, Datatype datatype, double operand, Peer peer,
            RemoteRegion remote, long remoteOffset) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            datatype.put(injected, 0, operand);
            return injectNumber(operation, datatype, peer, remote, remoteOffset);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** Injects the number in {@link #injected}; inside the guard. */
    private boolean injectNumber(AtomicOperation operation, Datatype datatype, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        long length = limits.bytes(AtomicForm.EXECUTE, operation, datatype, 1);
        requireInjectable(length);
        requireTarget(length, peer, remote, REMOTE_WRITE, remoteOffset);
        requireAligned(remote, remoteOffset, datatype);
        long status = ops.fi_inject_atomic(injected.address(), 1, peer.fabricAddress, remote.base() + remoteOffset,
                remote.key(), datatype.value(), operation.value());
        Reference.reachabilityFence(injected);
        return accepted(status, INJECT, peer);
    }

    /**
     * As {@link #tryInject(AtomicOperation, Datatype, long, Peer, RemoteRegion, long)}, but at the start of the
     * remote region, and waits for room.
     */
    public void inject(AtomicOperation operation, Datatype datatype, long operand, Peer peer, RemoteRegion remote) {
        if (!tryInject(operation, datatype, operand, peer, remote, 0)) {
            awaitRoom(INJECT, peer, () -> tryInject(operation, datatype, operand, peer, remote, 0));
        }
    }

    /**
     * As {@link #tryInject(AtomicOperation, Datatype, double, Peer, RemoteRegion, long)}, but at the start of the
     * remote region, and waits for room.
     */
    public void inject(AtomicOperation operation, Datatype datatype, double operand, Peer peer, RemoteRegion remote) {
        if (!tryInject(operation, datatype, operand, peer, remote, 0)) {
            awaitRoom(INJECT, peer, () -> tryInject(operation, datatype, operand, peer, remote, 0));
        }
    }

    /**
     * As {@link #tryExecute}, and brings the previous values of the target; fi_fetch_atomic.
     *
     * @param local the operands; ignored, and may be null, for {@link AtomicOperation#ATOMIC_READ}
     * @param count the number of elements, 1 to {@link #valid}
     * @param result where the previous value goes; needs {@link Access#READ}
     * @param resultOffset the start of the result in its region
     */
    public boolean tryFetch(AtomicOperation operation, Datatype datatype, MemoryRegion local, long offset, long count,
            MemoryRegion result, long resultOffset, Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            boolean reads = operation == AtomicOperation.ATOMIC_READ;
            MemoryRegion operand = reads ? result : local; // some providers need an operand even then
            long operandOffset = reads ? resultOffset : offset;
            long length = limits.bytes(AtomicForm.FETCH, operation, datatype, count);
            require(result, READ, resultOffset, length, peer, remote, REMOTE_READ, remoteOffset);
            if (!reads) { require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset); }
            requireAligned(remote, remoteOffset, datatype);
            long context = contexts.acquire(token, number, operand.number);
            if (context == ContextSlab.NONE) { return false; }
            if (operand != result) {
                extraRegions[0] = result.number;
                contexts.addExtraRegions(context, extraRegions, 1);
            }
            return accepted(context,
                    ops.fi_fetch_atomic(operand.address + operandOffset, count, operand.descriptor,
                            result.address + resultOffset, result.descriptor, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), datatype.value(), operation.value(), context),
                    AtomicLimits.call(AtomicForm.FETCH), peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #tryFetch(AtomicOperation, Datatype, MemoryRegion, long, long, MemoryRegion, long, Peer, RemoteRegion,
     * long, long)}, but takes slices and the start of the remote region, and waits for room.
     *
     * @param local the operands; ignored, and may be null, for {@link AtomicOperation#ATOMIC_READ}
     * @param result where the previous values go
     * @throws IllegalArgumentException if the result ends inside an element, or the slices have different lengths
     */
    public void fetch(AtomicOperation operation, Datatype datatype, MemoryRegion.Slice local, MemoryRegion.Slice result,
            Peer peer, RemoteRegion remote, long token) {
        MemoryRegion.Slice operands = operands(operation, local, result);
        long count = result.count(datatype);
        if (!tryFetch(operation, datatype, operands.region(), operands.offset(), count, result.region(),
                result.offset(), peer, remote, 0, token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.FETCH), peer, () -> tryFetch(operation, datatype, operands.region(),
                    operands.offset(), count, result.region(), result.offset(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #tryFetch(AtomicOperation, Datatype, MemoryRegion, long, long, MemoryRegion, long, Peer, RemoteRegion,
     * long, long)}, for one element, with a number and a cell.
     *
     * @param operand the value, put into the cell first, as {@link Datatype#put(MemorySegment, long, long)} does
     * @param cell the region of the cell, which needs both local rights
     * @param offset the start of the cell in its region, in bytes
     * @throws IllegalArgumentException if the datatype has no such value
     */
    public boolean tryFetch(AtomicOperation operation, Datatype datatype, long operand, MemoryRegion cell, long offset,
            Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        long operandOffset = datatype.put(cell.segment(), offset + datatype.size(), operand);
        return tryFetch(operation, datatype, cell, operandOffset, 1, cell, offset, peer, remote, remoteOffset, token);
    }

    /**
     * As {@link #tryFetch(AtomicOperation, Datatype, long, MemoryRegion, long, Peer, RemoteRegion, long, long)}, with a
     * value of type {@code double}.
     */
    public boolean tryFetch(AtomicOperation operation, Datatype datatype, double operand, MemoryRegion cell,
            long offset, Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        long operandOffset = datatype.put(cell.segment(), offset + datatype.size(), operand);
        return tryFetch(operation, datatype, cell, operandOffset, 1, cell, offset, peer, remote, remoteOffset, token);
    }

    /**
     * As {@link #tryFetch(AtomicOperation, Datatype, long, MemoryRegion, long, Peer, RemoteRegion, long, long)}, but
     * takes a slice for the cell and the start of the remote region, and waits for room.
     *
     * @param cell two elements
     * @throws IndexOutOfBoundsException if the slice has no room for two elements
     */
    public void fetch(AtomicOperation operation, Datatype datatype, long operand, MemoryRegion.Slice cell, Peer peer,
            RemoteRegion remote, long token) {
        requireCell(cell, 2, datatype);
        if (!tryFetch(operation, datatype, operand, cell.region(), cell.offset(), peer, remote, 0, token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.FETCH), peer,
                    () -> tryFetch(operation, datatype, operand, cell.region(), cell.offset(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #fetch(AtomicOperation, Datatype, long, MemoryRegion.Slice, Peer, RemoteRegion, long)}, with a value of
     * type {@code double}.
     */
    public void fetch(AtomicOperation operation, Datatype datatype, double operand, MemoryRegion.Slice cell, Peer peer,
            RemoteRegion remote, long token) {
        requireCell(cell, 2, datatype);
        if (!tryFetch(operation, datatype, operand, cell.region(), cell.offset(), peer, remote, 0, token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.FETCH), peer,
                    () -> tryFetch(operation, datatype, operand, cell.region(), cell.offset(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #tryFetch}, with comparands; fi_compare_atomic.
     *
     * @param compare the comparands; needs {@link Access#WRITE}
     * @param compareOffset the start of the comparands in their region
     * @param count the number of elements, 1 to {@link #valid}
     */
    public boolean tryCompare(AtomicOperation operation, Datatype datatype, MemoryRegion local, long offset, long count,
            MemoryRegion compare, long compareOffset, MemoryRegion result, long resultOffset, Peer peer,
            RemoteRegion remote, long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            long length = limits.bytes(AtomicForm.COMPARE, operation, datatype, count);
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            require(compare, WRITE, compareOffset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            require(result, READ, resultOffset, length, peer, remote, REMOTE_READ, remoteOffset);
            requireAligned(remote, remoteOffset, datatype);
            long context = contexts.acquire(token, number, local.number);
            if (context == ContextSlab.NONE) { return false; }
            if (local != result || local != compare) {
                extraRegions[0] = compare.number;
                extraRegions[1] = result.number;
                contexts.addExtraRegions(context, extraRegions, 2);
            }
            return accepted(context,
                    ops.fi_compare_atomic(local.address + offset, count, local.descriptor,
                            compare.address + compareOffset, compare.descriptor, result.address + resultOffset,
                            result.descriptor, peer.fabricAddress, remote.base() + remoteOffset, remote.key(),
                            datatype.value(), operation.value(), context),
                    AtomicLimits.call(AtomicForm.COMPARE), peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * As {@link #tryCompare(AtomicOperation, Datatype, MemoryRegion, long, long, MemoryRegion, long, MemoryRegion,
     * long, Peer, RemoteRegion, long, long)}, but takes slices and the start of the remote region, and waits
     * for room.
     *
     * @throws IllegalArgumentException if the slices end inside an element, or have different lengths
     */
    public void compare(AtomicOperation operation, Datatype datatype, MemoryRegion.Slice local,
            MemoryRegion.Slice compare, MemoryRegion.Slice result, Peer peer, RemoteRegion remote, long token) {
        requireSameLength(compare, result);
        requireSameLength(local, result);
        long count = result.count(datatype);
        if (!tryCompare(operation, datatype, local.region(), local.offset(), count, compare.region(), compare.offset(),
                result.region(), result.offset(), peer, remote, 0, token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.COMPARE), peer,
                    () -> tryCompare(operation, datatype, local.region(), local.offset(), count, compare.region(),
                            compare.offset(), result.region(), result.offset(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #tryCompare(AtomicOperation, Datatype, MemoryRegion, long, long, MemoryRegion, long, MemoryRegion,
     * long, Peer, RemoteRegion, long, long)}, for one element, with numbers and a cell.
     */
    public boolean tryCompare(AtomicOperation operation, Datatype datatype, long operand, long comparand,
            MemoryRegion cell, long offset, Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        long operandOffset = datatype.put(cell.segment(), offset + datatype.size(), operand);
        long compareOffset = datatype.put(cell.segment(), operandOffset + datatype.size(), comparand);
        return tryCompare(operation, datatype, cell, operandOffset, 1, cell, compareOffset, cell, offset, peer, remote,
                remoteOffset, token);
    }

    /**
     * As {@link #tryCompare(AtomicOperation, Datatype, long, long, MemoryRegion, long, Peer, RemoteRegion, long,
     * long)}, with values of type {@code double}.
     */
    public boolean tryCompare(AtomicOperation operation, Datatype datatype, double operand, double comparand,
            MemoryRegion cell, long offset, Peer peer, RemoteRegion remote, long remoteOffset, long token) {
        long operandOffset = datatype.put(cell.segment(), offset + datatype.size(), operand);
        long compareOffset = datatype.put(cell.segment(), operandOffset + datatype.size(), comparand);
        return tryCompare(operation, datatype, cell, operandOffset, 1, cell, compareOffset, cell, offset, peer, remote,
                remoteOffset, token);
    }

    /**
     * As {@link #tryCompare(AtomicOperation, Datatype, long, long, MemoryRegion, long, Peer, RemoteRegion, long,
     * long)}, but takes a slice for the cell and the start of the remote region, and waits for room.
     *
     * @param cell three elements
     * @throws IndexOutOfBoundsException if the slice has no room for three elements
     */
    public void compare(AtomicOperation operation, Datatype datatype, long operand, long comparand,
            MemoryRegion.Slice cell, Peer peer, RemoteRegion remote, long token) {
        requireCell(cell, 3, datatype);
        if (!tryCompare(operation, datatype, operand, comparand, cell.region(), cell.offset(), peer, remote, 0,
                token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.COMPARE), peer, () -> tryCompare(operation, datatype, operand,
                    comparand, cell.region(), cell.offset(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #compare(AtomicOperation, Datatype, long, long, MemoryRegion.Slice, Peer, RemoteRegion, long)}, with
     * values of type {@code double}.
     */
    public void compare(AtomicOperation operation, Datatype datatype, double operand, double comparand,
            MemoryRegion.Slice cell, Peer peer, RemoteRegion remote, long token) {
        requireCell(cell, 3, datatype);
        if (!tryCompare(operation, datatype, operand, comparand, cell.region(), cell.offset(), peer, remote, 0,
                token)) {
            awaitRoom(AtomicLimits.call(AtomicForm.COMPARE), peer, () -> tryCompare(operation, datatype, operand,
                    comparand, cell.region(), cell.offset(), peer, remote, 0, token));
        }
    }

    private static void requireCell(MemoryRegion.Slice cell, int elements, Datatype datatype) {
        if (cell.length() < (long) elements * datatype.size()) {
            throw new IndexOutOfBoundsException("a cell needs " + elements + " elements of " + datatype + ", "
                    + elements * datatype.size() + " bytes, and the slice has " + cell.length());
        }
    }

    private static MemoryRegion.Slice operands(AtomicOperation operation, MemoryRegion.Slice local,
            MemoryRegion.Slice result) {
        if (operation == AtomicOperation.ATOMIC_READ) { return result; }
        requireSameLength(local, result);
        return local;
    }

    private static void requireSameLength(MemoryRegion.Slice one, MemoryRegion.Slice result) {
        if (one.length() != result.length()) {
            throw new IllegalArgumentException("the slices have different lengths, " + one.length() + " and "
                    + result.length() + " bytes: each element has an operand, and gives a result");
        }
    }

    /** {@return a prepared operation on elements of this type, for several segments, flags, and repeated posts} */
    public PreparedAtomic prepare(Datatype datatype) {
        TransmitAttributes limits = endpoint.info().transmit();
        return new PreparedAtomic(this, datatype,
                new PreparedAtomicStruct((int) Math.min(limits.iovLimit(), PreparedAtomic.MAX_LOCAL),
                        (int) Math.min(limits.rmaIovLimit(), Byte.MAX_VALUE), datatype.value()));
    }

    /**
     * Reads 8 bytes of a region after all that was posted before. As {@link #tryFetch}, but reported on a selective
     * queue too.
     */
    boolean tryFlush(MemoryRegion scratch, Peer peer, RemoteRegion remote, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(scratch, READ, 0, Long.BYTES, peer, remote, REMOTE_READ, 0);
            requireAligned(remote, 0, Datatype.INT64);
            long context = contexts.acquire(token, ContextSlab.endpoint(endpoint.number), scratch.number);
            return context != ContextSlab.NONE && accepted(context,
                    ops.fi_fetch_atomic(scratch.address, 1, scratch.descriptor, scratch.address, scratch.descriptor,
                            peer.fabricAddress, remote.base(), remote.key(), Datatype.INT64.value(),
                            AtomicOperation.ATOMIC_READ.value(), context),
                    AtomicLimits.call(AtomicForm.FETCH), peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    @Override
    void requireOffered(OperationFlag flag) {
        super.requireOffered(flag);
        if (flag == OperationFlag.INJECT) { endpoint.quirks.require(Fact.ATOMIC_INJECTS_ARE_SILENT); }
        if (flag == OperationFlag.REMOTE_CQ_DATA) { endpoint.quirks.require(Fact.ATOMICS_CARRY_NO_DATA); }
    }

    static void requireAligned(RemoteRegion remote, long offset, Datatype datatype) {
        if ((remote.base() + offset & datatype.size() - 1) != 0) {
            throw new IllegalArgumentException("the target, at remote offset " + offset + ", is not aligned: "
                    + datatype + " must be at a multiple of " + datatype.size() + " bytes");
        }
    }
}
