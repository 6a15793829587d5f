package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.PreparedRmaStruct;
import java.util.Arrays;

/**
 * A prepared one-sided operation: local segments, remote segments, peer, flags and completion data, which can be
 * changed one by one and posted again; fi_rma(3). Made by {@link Rma#prepare}, for one endpoint. One without flags and
 * with one remote segment makes the call fi_writev or fi_readv, any other fi_writemsg or fi_readmsg. Offsets and
 * lengths are in bytes. Changes allocate nothing. Only the thread that made it may change and post it; others get
 * WrongThreadException. Setters return this operation.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if
 * a region belongs to another domain, a peer to another vector, there are too many segments, or the data is too long.
 * Posting methods throw what those of {@link Rma} throw. In addition, they throw IllegalArgumentException if there are
 * too many bytes for {@link OperationFlag#INJECT}, or a read does not take the flags, and IllegalStateException if the
 * peer or segments are missing, or the numbers of local and remote bytes differ.
 */
public final class PreparedRma extends Prepared<PreparedRma> {
    private static final long WRITE_ONLY_FLAGS = OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit();

    final PreparedRmaStruct struct;
    private final Rma rma;
    private final Segments local;
    private final Segments remote;
    /** Of operations of the transfer that suits, as {@link PostPath#number}. */
    private long number;
    /** Whether the transfer that suits needs no flags and has one remote segment. */
    private boolean isVector;

    /** Which way the bytes go. */
    enum Transfer {
        WRITE("fi_writemsg", "fi_writev"), READ("fi_readmsg", "fi_readv");

        /** The call with a struct and flags, and that with vectors. */
        final String call;
        final String vectorCall;

        Transfer(String call, String vectorCall) {
            this.call = call;
            this.vectorCall = vectorCall;
        }
    }

    PreparedRma(Rma rma, PreparedRmaStruct struct) {
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
     * Starts writing the local segments to the remote segments if there is room; fi_writev or fi_writemsg, fi_rma(3).
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the segments have no bytes, {@link OperationFlag#DELIVERY_COMPLETE} is
     *         among the flags, and the provider would never complete the write
     */
    public boolean tryWrite(long token) { return tryPost(Transfer.WRITE, token); }

    /** As {@link #tryWrite}, but waits for room. */
    public void write(long token) { post(Transfer.WRITE, token); }

    /**
     * Starts reading the remote segments into the local segments if there is room; fi_readv or fi_readmsg, fi_rma(3).
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if the device would fill only the first of several local segments
     */
    public boolean tryRead(long token) { return tryPost(Transfer.READ, token); }

    /** As {@link #tryRead}, but waits for room. */
    public void read(long token) { post(Transfer.READ, token); }

    private void change() {
        requireOwner();
        suits = null;
    }

    private void post(Transfer transfer, long token) {
        if (!tryPost(transfer, token)) { rma.awaitRoom(call(transfer), peer, () -> tryPost(transfer, token)); }
    }

    private boolean tryPost(Transfer transfer, long token) {
        requireOwner();
        if (suits != transfer) { prepare(transfer); }
        boolean entered = ThreadGuard.enter(rma.guard, rma.unlockedThread);
        try {
            requireOpen();
            if (local.amount == 0 && transfer == Transfer.READ && rma.emptyReadsHang) {
                return rma.completeEmptyRead(number, token);
            }
            long context = rma.contexts.acquire(token, number, local.firstRegion);
            if (context == ContextSlab.NONE) { return false; }
            local.addExtraRegions(rma.contexts, context);
            struct.context(context);
            return rma.accepted(context, submit(transfer, context), call(transfer), peer);
        } finally {
            ThreadGuard.exit(rma.guard, entered);
        }
    }

    /** Makes the checks whose result only a setter changes. */
    private void prepare(Transfer transfer) {
        requireSuits(transfer);
        boolean isRead = transfer == Transfer.READ;
        if (local.amount == 0 && !isRead) { rma.requireEmptyCompletes(effectiveFlags()); }
        number = rma.numberFor(effectiveFlags()) | (isRead ? ContextSlab.READ : 0);
        isVector = flags == 0 && remote.count == 1;
        suits = transfer;
    }

    private long submit(Transfer transfer, long context) {
        if (isVector) {
            return transfer == Transfer.WRITE ? rma.ops.fi_writev(struct, context) : rma.ops.fi_readv(struct, context);
        }
        long requested = effectiveFlags() | FabricConstants.FI_COMPLETION;
        return transfer == Transfer.WRITE
                ? rma.ops.fi_writemsg(struct, requested)
                : rma.ops.fi_readmsg(struct, requested);
    }

    private String call(Transfer transfer) { return isVector ? transfer.vectorCall : transfer.call; }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(local.regions, local.count); }

    /** Makes the checks of a post that need the guard. */
    void requireOpen() { rma.requireOpen(local, peer); }

    /** Makes the checks of a post that do not need the guard. */
    void requireSuits(Transfer transfer) {
        requireOwner();
        requireComplete();
        if (has(OperationFlag.INJECT)) { rma.requireInjectable(local.amount); }
        rma.requireLength("an operation", local.amount);
        boolean isRead = transfer == Transfer.READ;
        local.requireRights(isRead ? Rma.READ : Rma.WRITE);
        remote.requireRights(isRead ? Rma.REMOTE_READ : Rma.REMOTE_WRITE);
        if (isRead) { requireReadable(); }
    }

    private void requireComplete() {
        requirePeer();
        if (local.count == 0 || remote.count == 0 || local.amount != remote.amount) {
            throw new IllegalStateException("the operation has " + local.count + " local segments of " + local.amount
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
