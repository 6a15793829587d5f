package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.PreparedRmaStruct;
import io.ofi4j.internal.ffi.RmaOps;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;

/**
 * One-sided transfers between a region of this process and a region of a peer; fi_rma(3). Returned by
 * {@link Endpoint#rma}. Offsets and lengths are in bytes. Posting allocates nothing.
 *
 * <p><b>Completions.</b> Every operation except an inject gives one completion on the endpoint's queue, with the token
 * that it was posted with, unless the queue was bound with {@link Endpoint#bindSelective}. Before it, do not change the
 * source of a write, and do not read the target of a read. The completion of a write says that its source may be
 * changed; only {@link #tryFlush}, {@link OperationFlag#DELIVERY_COMPLETE} or the peer say that the bytes have arrived.
 *
 * <p><b>Full queues.</b> A {@code try} form returns false if the provider has no room ({@code -FI_EAGAIN}) or the
 * queue's limit of operations in flight is reached: poll, and try again. The form without {@code try} makes progress on
 * the domain's queues until there is room, for {@link Endpoint#postTimeout()} at most, and then throws
 * FabricTimeoutException; nothing was posted then. Completions that it reads are buffered for the next poll.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every transfer throws
 * IndexOutOfBoundsException if the bytes are not all inside both regions; IllegalArgumentException if a region lacks
 * the right or belongs to another domain, the peer belongs to another vector, or there are too many bytes;
 * IllegalStateException if the endpoint or the local region is closed, or the peer was removed; WrongThreadException
 * where the domain's {@link ThreadingModel} gives the endpoint to another thread; FabricException if the provider
 * reports an error; UnsupportedOperationException if the provider would get it wrong, which the table of refusals in
 * {@code core/guide/REFUSALS.md} lists.
 */
public final class Rma extends OneSided {
    private static final String FLUSH = "flush";
    /** More than any provider takes. A provider without a limit reports SIZE_MAX. */
    private static final int MAX_REMOTE_SEGMENTS = 1024;

    final RmaOps ops;
    /** Why a read into several local segments is refused, or null. */
    private final String multiSegmentRefusal;
    /** Null until the first flush. */
    private volatile Flush flush;

    Rma(Endpoint endpoint) {
        super(endpoint);
        this.ops = new RmaOps(endpoint.handle, domain.queues.hasCriticalPosts(endpoint));
        this.multiSegmentRefusal = endpoint.quirks.refusal(Fact.READS_FILL_ONE_SEGMENT);
    }

    /** {@return the largest number of bytes of one operation} */
    public long maximumMessageSize() {
        return maximumMessageSize;
    }

    /**
     * Starts writing to a peer's memory if there is room; fi_write, fi_rma(3).
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset the start of the source in the local region, in bytes
     * @param length the number of bytes, 0 to {@link #maximumMessageSize}
     * @param peer the owner of the target
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset the start of the target in the remote region, in bytes
     * @param token comes back with the completion
     * @return whether the write was accepted
     * @throws UnsupportedOperationException if the write has no bytes, {@link OperationFlag#DELIVERY_COMPLETE} is a
     *         default flag, and the provider would never complete it
     */
    public boolean tryWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE
                    && accepted(context, ops.fi_write(local.address + offset, length, local.descriptor,
                            peer.fabricAddress, remote.base() + remoteOffset, remote.key(), context), "fi_write", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryWrite}, but writes a slice to the start of the remote region, and waits for room. */
    public void write(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        if (!tryWrite(local.region(), local.offset(), local.length(), peer, remote, 0, token)) {
            awaitRoom("fi_write", peer,
                    () -> tryWrite(local.region(), local.offset(), local.length(), peer, remote, 0, token));
        }
    }

    /**
     * Starts reading from a peer's memory if there is room; fi_read, fi_rma(3). As {@link #tryWrite}, in the other
     * direction.
     *
     * @param local the target; needs {@link Access#READ}
     * @param remote the source; needs {@link Access#REMOTE_READ}
     */
    public boolean tryRead(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, READ, offset, length, peer, remote, REMOTE_READ, remoteOffset);
            if (length == 0 && emptyReadsHang) { return completeEmptyRead(number, token); }
            long context = contexts.acquire(token, number | ContextSlab.READ, local.number);
            return context != ContextSlab.NONE
                    && accepted(context, ops.fi_read(local.address + offset, length, local.descriptor,
                            peer.fabricAddress, remote.base() + remoteOffset, remote.key(), context), "fi_read", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryRead}, but reads from the start of the remote region into a slice, and waits for room. */
    public void read(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        if (!tryRead(local.region(), local.offset(), local.length(), peer, remote, 0, token)) {
            awaitRoom("fi_read", peer,
                    () -> tryRead(local.region(), local.offset(), local.length(), peer, remote, 0, token));
        }
    }

    /**
     * As {@link #tryWrite}, but without a completion, for up to {@link #injectSize} bytes; fi_inject_write. The local
     * bytes may be changed at once.
     */
    public boolean tryInjectWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, injectSize, peer, remote, REMOTE_WRITE, remoteOffset);
            return accepted(ops.fi_inject_write(local.address + offset, length, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key()), "fi_inject_write", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectWrite}, but writes a slice to the start of the remote region, and waits for room. */
    public void injectWrite(MemoryRegion.Slice local, Peer peer, RemoteRegion remote) {
        if (!tryInjectWrite(local.region(), local.offset(), local.length(), peer, remote, 0)) {
            awaitRoom("fi_inject_write", peer,
                    () -> tryInjectWrite(local.region(), local.offset(), local.length(), peer, remote, 0));
        }
    }

    /**
     * As {@link #tryWrite}, but also gives the peer a completion with data; fi_writedata.
     *
     * @param data the data, of up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider does not carry data, or as {@link #tryWrite}
     */
    public boolean tryWriteData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            if (length == 0) { requireEmptyCompletes(defaultFlags); }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE && accepted(
                    context, ops.fi_writedata(local.address + offset, length, local.descriptor, data,
                            peer.fabricAddress, remote.base() + remoteOffset, remote.key(), context),
                    "fi_writedata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryWriteData}, but writes a slice to the start of the remote region, and waits for room. */
    public void writeData(MemoryRegion.Slice local, long data, Peer peer, RemoteRegion remote, long token) {
        if (!tryWriteData(local.region(), local.offset(), local.length(), data, peer, remote, 0, token)) {
            awaitRoom("fi_writedata", peer,
                    () -> tryWriteData(local.region(), local.offset(), local.length(), data, peer, remote, 0, token));
        }
    }

    /**
     * As {@link #tryWriteData}, but without a local completion, for up to {@link #injectSize} bytes;
     * fi_inject_writedata. The local bytes may be changed at once.
     */
    public boolean tryInjectWriteData(MemoryRegion local, long offset, long length, long data, Peer peer,
            RemoteRegion remote, long remoteOffset) {
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, injectSize, peer, remote, REMOTE_WRITE, remoteOffset);
            return accepted(ops.fi_inject_writedata(local.address + offset, length, data, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key()), "fi_inject_writedata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectWriteData}, but writes a slice to the start of the remote region, and waits for room. */
    public void injectWriteData(MemoryRegion.Slice local, long data, Peer peer, RemoteRegion remote) {
        if (!tryInjectWriteData(local.region(), local.offset(), local.length(), data, peer, remote, 0)) {
            awaitRoom("fi_inject_writedata", peer,
                    () -> tryInjectWriteData(local.region(), local.offset(), local.length(), data, peer, remote, 0));
        }
    }

    /**
     * Writes bytes to a peer, and then injects a flag, which arrives after the bytes: a target that sees the flag
     * ({@link MemoryRegion#getLongAcquire}) has the bytes. It waits for room for both.
     *
     * <p>At the target, only the thread that polls may read the flag, or a thread that it notifies. The provider may
     * store bytes and flag without a barrier between them: on a machine with a weak memory order, such as aarch64,
     * another thread may see the flag before the bytes. Use {@link #writeData} for such a thread: the completion orders
     * what comes before it.
     *
     * @param local the bytes to write
     * @param peer the owner of the targets
     * @param remote the target of the bytes, which go to its start
     * @param flag the bytes of the flag, at most {@link #injectSize}; they may be changed when this returns
     * @param remoteFlag the target of the flag, which goes to its start; a region of the same peer
     * @param token comes back with the completion of the write; the flag gives no completion
     * @throws UnsupportedOperationException if the provider does not promise to write in order
     *         ({@link MessageOrder#RMA_WAW}, {@link io.ofi4j.info.EndpointAttributes#maximumOrderWriteAfterWrite}); use
     *         {@link #writeData} there
     * @throws FabricTimeoutException if there is no room in time; the write of the bytes may have been posted, but not
     *         the flag
     */
    public void writeThenNotify(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, MemoryRegion.Slice flag,
            RemoteRegion remoteFlag, long token) {
        long longest = endpoint.info().endpoint().maximumOrderWriteAfterWrite();
        if (!endpoint.info().transmit().messageOrder().contains(MessageOrder.RMA_WAW)
                || Long.compareUnsigned(local.length(), longest) > 0) {
            throw new UnsupportedOperationException("the provider " + provider + " does not promise that a write of "
                    + local.length()
                    + " bytes arrives before the next write: use writeData, which gives the target a completion");
        }
        requireInjectable(flag.length());
        require(flag.region(), WRITE, flag.offset(), flag.length(), peer, remoteFlag, REMOTE_WRITE, 0);
        write(local, peer, remote, token);
        injectWrite(flag, peer, remoteFlag);
    }

    /**
     * Starts a flush of a peer if there is room. Its completion says that the writes of any form, injects included, and
     * the atomic operations that this endpoint posted to the peer before the flush are in the peer's memory. That holds
     * even if their own completions have not been polled yet; an operation that has failed reports its own error. A
     * flush changes no byte. {@link #flushCoversMessages} says whether it covers messages. Copies inside a device may
     * not be covered, see {@code core/guide/DEVICE-MEMORY.md}.
     *
     * <p>A flush is one operation that the peer answers after the earlier ones: a write of no bytes with
     * {@link OperationFlag#DELIVERY_COMPLETE}, a read of one byte, or an atomic read of 8 bytes; fi_writemsg,
     * fi_readmsg, fi_rma(3), or fi_fetch_atomic, fi_atomic(3). As with any operation, the peer must make progress.
     * Operations posted after the flush do not wait for it. A queue that was bound with {@link Endpoint#bindSelective}
     * reports flushes too.
     *
     * @param peer the peer to flush
     * @param remote any region of the peer with {@link Access#REMOTE_READ} and {@link Access#REMOTE_WRITE}, of 8 bytes
     *         or more, whose base is a multiple of 8; a provider needs one of the two rights, and some are content with
     *         a shorter region
     * @param token comes back with the completion, whose other values have no meaning
     * @return whether the flush was accepted
     * @throws IllegalArgumentException if the region lacks the right that this provider needs
     * @throws UnsupportedOperationException if the provider promises no order that a flush could rely on
     */
    public boolean tryFlush(Peer peer, RemoteRegion remote, long token) {
        Flush flushing = flush();
        if (flushing.atomics != null) { return flushing.atomics.tryFlush(flushing.scratch, peer, remote, token); }
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(flushing.scratch, flushing.mechanism.localRight, 0, flushing.mechanism.length, peer, remote,
                    flushing.mechanism.remoteRight, 0);
            long context = contexts.acquire(token, flushing.number, flushing.scratch.number);
            return context != ContextSlab.NONE
                    && accepted(context, flushing.post(ops, peer, remote, context), FLUSH, peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryFlush}, but waits for room. */
    public void flush(Peer peer, RemoteRegion remote, long token) {
        if (!tryFlush(peer, remote, token)) { awaitRoom(FLUSH, peer, () -> tryFlush(peer, remote, token)); }
    }

    /**
     * {@return whether a flush also covers messages: those posted before it are then in the receives of the peer that
     * have taken them} Where it does not, a later poll of the peer may move them there.
     */
    public boolean flushCoversMessages() { return endpoint.quirks.has(Fact.FLUSHES_COVER_MESSAGES); }

    private Flush flush() {
        Flush known = flush;
        return known != null ? known : openFlush();
    }

    private synchronized Flush openFlush() {
        endpoint.requireEnabled();
        if (flush == null) { flush = new Flush(endpoint); }
        return flush;
    }

    /** Closes the flush, before the endpoint closes. */
    synchronized void closeFlush() {
        if (flush != null) { flush.close(); }
    }

    /** {@return a prepared operation without segments, for transfers of several segments, flags, and repeated posts} */
    public PreparedRma prepare() {
        TransmitAttributes limits = endpoint.info().transmit();
        return new PreparedRma(this, new PreparedRmaStruct((int) Math.min(limits.iovLimit(), Prepared.MAX_SEGMENTS),
                (int) Math.min(limits.rmaIovLimit(), MAX_REMOTE_SEGMENTS)));
    }

    /** Refuses a read into several local segments if the provider would fill only the first. */
    void requireMultiSegmentReads() {
        Quirks.require(multiSegmentRefusal);
    }
}
