package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.RmaMessageStruct;
import java.util.Arrays;

/**
 * A prepared one-sided operation: local segments, remote segments, peer, flags and completion data, which can be
 * changed one by one and posted again; {@code struct fi_msg_rma}, fi_rma(3). Made by {@link Rma#message}, for one
 * endpoint. Offsets and lengths are in bytes. Changes allocate nothing. Only the thread that made it may change and
 * post it; others get WrongThreadException. Setters return this operation.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if
 * a region belongs to another domain, a peer to another vector, there are too many segments, or the data is too long.
 * Posting methods throw what those of {@link Rma} throw. In addition, they throw IllegalArgumentException if there are
 * too many bytes for {@link OperationFlag#INJECT}, or the call does not take the flags, and IllegalStateException if
 * the peer or segments are missing, or the numbers of local and remote bytes differ.
 */
public final class PreparedRma extends Prepared<PreparedRma> {
    private static final long WRITE_ONLY_FLAGS = OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit();

    final RmaMessageStruct struct;
    private final Rma rma;
    private final Segments local;
    private final Segments remote;
    /** Of operations of the call that suits, as {@link PostPath#number}. */
    private long number;

    /** The libfabric call that posts it. */
    enum Call {
        WRITE("fi_writemsg", false, true),
        READ("fi_readmsg", true, true),
        WRITE_VECTOR("fi_writev", false, false),
        READ_VECTOR("fi_readv", true, false);

        final String operation;
        final boolean isRead;
        final boolean hasFlags;

        Call(String operation, boolean isRead, boolean hasFlags) {
            this.operation = operation;
            this.hasFlags = hasFlags;
            this.isRead = isRead;
        }
    }

    PreparedRma(Rma rma, RmaMessageStruct struct) {
        super(rma, struct);
        this.rma = rma;
        this.struct = struct;
        this.local = Segments.local(rma, "local ", struct.local);
        this.remote = Segments.remote(rma, struct.remote);
    }

    /** {@return the largest number of local segments} */
    public int localLimit() { return local.limit(); }

    /** {@return the largest number of remote segments} */
    public int remoteLimit() { return remote.limit(); }

    /** Removes every segment, local and remote; flags, data and peer stay. */
    public PreparedRma clear() {
        change();
        local.clear();
        remote.clear();
        return this;
    }

    /**
     * Adds a local segment: a range of a region of the endpoint's domain. There may be {@link #localLimit} of them.
     *
     * @param region the region
     * @param offset the start of the segment in the region, in bytes
     * @param length the number of bytes
     */
    public PreparedRma local(MemoryRegion region, long offset, long length) {
        change();
        rma.requireInside(region, offset, length);
        local.add(region, offset, length);
        struct.localCount(local.count, local.amount);
        return this;
    }

    /**
     * Replaces one local segment. The other segments stay.
     *
     * @param index its position, from 0, in the order of addition
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region, in bytes
     * @param length the number of bytes of the segment
     */
    public PreparedRma replaceLocal(int index, MemoryRegion region, long offset, long length) {
        change();
        rma.requireInside(region, offset, length);
        local.replace(index, region, offset, length);
        struct.localCount(local.count, local.amount);
        return this;
    }

    /**
     * Adds a remote segment: a range of a peer's region. There may be {@link #remoteLimit} of them.
     *
     * @param region the peer's region
     * @param offset the start of the segment in the region, in bytes
     * @param length the number of bytes
     */
    public PreparedRma remote(RemoteRegion region, long offset, long length) {
        change();
        rma.requireInside(region, offset, length);
        remote.add(region, offset, length);
        struct.remoteCount(remote.count);
        return this;
    }

    /** Replaces one remote segment, as {@link #replaceLocal} does a local one. */
    public PreparedRma replaceRemote(int index, RemoteRegion region, long offset, long length) {
        change();
        rma.requireInside(region, offset, length);
        remote.replace(index, region, offset, length);
        return this;
    }

    /**
     * Starts writing the local segments to the remote segments if there is room; fi_writemsg, fi_rma(3).
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the segments have no bytes, {@link OperationFlag#DELIVERY_COMPLETE} is
     *         among the {@link Prepared#flags(OperationFlag...) flags}, and the provider would never complete the write
     */
    public boolean tryWrite(long token) { return tryPost(Call.WRITE, token); }

    /** As {@link #tryWrite}, but waits for room. */
    public void write(long token) { post(Call.WRITE, token); }

    /**
     * Starts reading the remote segments into the local segments if there is room; fi_readmsg, fi_rma(3).
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the device would fill only the first of several local segments
     */
    public boolean tryRead(long token) { return tryPost(Call.READ, token); }

    /** As {@link #tryRead}, but waits for room. */
    public void read(long token) { post(Call.READ, token); }

    /** As {@link #tryWrite}, but to one remote segment and without flags; fi_writev. */
    public boolean tryWriteVector(long token) {
        return tryPost(Call.WRITE_VECTOR, token);
    }

    /** As {@link #tryWriteVector}, but waits for room. */
    public void writeVector(long token) {
        post(Call.WRITE_VECTOR, token);
    }

    /** As {@link #tryRead}, but from one remote segment and without flags; fi_readv. */
    public boolean tryReadVector(long token) {
        return tryPost(Call.READ_VECTOR, token);
    }

    /** As {@link #tryReadVector}, but waits for room. */
    public void readVector(long token) {
        post(Call.READ_VECTOR, token);
    }

    private void change() {
        requireOwner();
        suits = null;
    }

    private void post(Call call, long token) {
        if (!tryPost(call, token)) { rma.awaitRoom(call.operation, peer, () -> tryPost(call, token)); }
    }

    private boolean tryPost(Call call, long token) {
        requireOwner();
        if (suits != call) { prepare(call); }
        boolean entered = ThreadGuard.enter(rma.guard, rma.unlockedThread);
        try {
            requireOpen();
            if (local.amount == 0 && call.isRead && rma.emptyReadsHang) { return rma.completeEmptyRead(number, token); }
            long context = rma.contexts.acquire(token, number, local.firstRegion);
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(rma.contexts, context);
            struct.context(context);
            return rma.accepted(context, submit(call, context), call.operation, peer);
        } finally {
            ThreadGuard.exit(rma.guard, entered);
        }
    }

    /** Makes the checks whose result only a setter changes. */
    private void prepare(Call call) {
        requireSuits(call);
        long effectiveFlags = call.hasFlags ? flags : rma.defaultFlags;
        if (local.amount == 0 && !call.isRead) { rma.requireEmptyCompletes(effectiveFlags); }
        number = rma.numberFor(effectiveFlags) | (call.isRead ? ContextSlab.READ : 0);
        suits = call;
    }

    private long submit(Call call, long context) {
        return switch (call) {
            case WRITE -> rma.ops.fi_writemsg(struct, flags | FabricConstants.FI_COMPLETION);
            case READ -> rma.ops.fi_readmsg(struct, flags | FabricConstants.FI_COMPLETION);
            case WRITE_VECTOR -> rma.ops.fi_writev(struct, context);
            case READ_VECTOR -> rma.ops.fi_readv(struct, context);
        };
    }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(local.regions, local.count); }

    /** Makes the checks of a post that need the guard. */
    void requireOpen() { rma.requireOpen(local, peer); }

    /** Makes the checks of a post that do not need the guard. */
    void requireSuits(Call call) {
        requireOwner();
        requireComplete();
        if (has(OperationFlag.INJECT)) { rma.requireInjectable(local.amount); }
        rma.requireLength("an operation", local.amount);
        local.requireRights(call.isRead ? Rma.READ : Rma.WRITE);
        remote.requireRights(call.isRead ? Rma.REMOTE_READ : Rma.REMOTE_WRITE);
        if (call.isRead) { requireReadable(); }
        if (!call.hasFlags) { requirePlain(remote); }
    }

    private void requireComplete() {
        requirePeer();
        if (local.count == 0 || remote.count == 0 || local.amount != remote.amount) {
            throw new IllegalStateException("the message has " + local.count + " local segments of " + local.amount
                    + " bytes in total and " + remote.count + " remote segments of " + remote.amount
                    + ": it needs both, with the same number of bytes");
        }
    }

    private void requireReadable() {
        if (local.count > 1) { rma.requireMultiSegmentReads(); }
        if ((flags & WRITE_ONLY_FLAGS) != 0) {
            throw new IllegalArgumentException("a read takes neither REMOTE_CQ_DATA nor INJECT");
        }
    }
}
