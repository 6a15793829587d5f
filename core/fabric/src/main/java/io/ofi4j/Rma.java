package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.RmaMessageStruct;
import io.ofi4j.internal.ffi.RmaOps;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;

/**
 * One-sided transfers between a region of this process and a region of a peer; fi_rma(3). Returned by {@link Endpoint#rma}. Offsets
 * and lengths are in bytes. Posting allocates nothing.
 *
 * <p><b>Completions.</b> Every operation except an inject gives one completion on the endpoint's queue, with the token that it was
 * posted with, unless the queue was bound with {@link Endpoint#bindSelective}. Do not change the local bytes before it.
 *
 * <p><b>Full queues.</b> A {@code try} form returns false if the provider has no room ({@code -FI_EAGAIN}) or the queue's
 * limit of operations in flight is reached: poll, and try again. The form without {@code try} makes progress on the domain's queues
 * until there is room, for {@link Endpoint#postTimeout()} at most, and then throws FabricTimeoutException; nothing was posted then.
 * Completions that come meanwhile are buffered for the next poll.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every transfer throws IndexOutOfBoundsException if the
 * bytes are not all inside both regions; IllegalArgumentException if a region lacks the right or belongs to another domain, the
 * peer belongs to another vector, or there are too many bytes; IllegalStateException if the endpoint or the local region is closed,
 * or the peer was removed; WrongThreadException where the domain's {@link ThreadingModel} gives the endpoint to another thread;
 * FabricException if the provider reports an error; UnsupportedOperationException if the provider would get it wrong, which
 * the table of refusals in {@code core/guide/PROVIDERS.md} lists.
 */
public final class Rma extends OneSided {
    private static final String FLUSH = "flush";

    final RmaOps ops;
    /** Why a read into several local segments is refused, or null. */
    private final String multiSegmentRefusal;
    /** Null until it is first wanted. */
    private volatile Flush flush;

    Rma(Endpoint endpoint) {
        super(endpoint);
        this.ops = new RmaOps(endpoint.handle, domain.queues.hasCriticalPosts());
        this.multiSegmentRefusal = endpoint.quirks.refusal(Fact.READS_FILL_ONE_SEGMENT);
    }

    /** {@return the largest number of bytes of one operation} */
    public long maximumMessageSize() {
        return maximumMessageSize;
    }

    /**
     * Starts writing to a peer's memory if there is room; fi_write.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset the start of the source in the local region
     * @param length the number of bytes, 0 to {@link #maximumMessageSize}
     * @param peer the owner of the target
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset the start of the target in the remote region
     * @param token comes back with the completion
     * @return whether the write was accepted
     * @throws UnsupportedOperationException if it has no bytes and {@link OperationFlag#DELIVERY_COMPLETE} by default, and the provider
     *         would never complete it
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

    /** As {@link #tryWrite}, but waits for room. */
    public void write(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote, long remoteOffset,
            long token) {
        if (!tryWrite(local, offset, length, peer, remote, remoteOffset, token)) {
            awaitRoom("fi_write", peer, () -> tryWrite(local, offset, length, peer, remote, remoteOffset, token));
        }
    }

    /**
     * Starts reading from a peer's memory if there is room; fi_read. As {@link #tryWrite}, in the other direction.
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

    /** As {@link #tryRead}, but waits for room. */
    public void read(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote, long remoteOffset,
            long token) {
        if (!tryRead(local, offset, length, peer, remote, remoteOffset, token)) {
            awaitRoom("fi_read", peer, () -> tryRead(local, offset, length, peer, remote, remoteOffset, token));
        }
    }

    /**
     * As {@link #tryWrite}, but without a completion, for up to {@link #injectSize} bytes; fi_inject_write. The local bytes may be
     * changed at once.
     */
    public boolean tryInjectWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        requireInjectable(length);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            return accepted(ops.fi_inject_write(local.address + offset, length, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key()), "fi_inject_write", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectWrite}, but waits for room. */
    public void injectWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        if (!tryInjectWrite(local, offset, length, peer, remote, remoteOffset)) {
            awaitRoom("fi_inject_write", peer, () -> tryInjectWrite(local, offset, length, peer, remote, remoteOffset));
        }
    }

    /**
     * As {@link #tryWrite}, but also gives the peer a completion with data; fi_writedata.
     *
     * @param data the data, of up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider carries no data, or as for {@link #tryWrite}
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

    /** As {@link #tryWriteData}, but waits for room. */
    public void writeData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        if (!tryWriteData(local, offset, length, data, peer, remote, remoteOffset, token)) {
            awaitRoom("fi_writedata", peer,
                    () -> tryWriteData(local, offset, length, data, peer, remote, remoteOffset, token));
        }
    }

    /**
     * As {@link #tryWriteData}, but without a local completion, for up to {@link #injectSize} bytes; fi_inject_writedata. The local
     * bytes may be changed at once.
     */
    public boolean tryInjectWriteData(MemoryRegion local, long offset, long length, long data, Peer peer,
            RemoteRegion remote, long remoteOffset) {
        requireInjectable(length);
        requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            return accepted(ops.fi_inject_writedata(local.address + offset, length, data, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key()), "fi_inject_writedata", peer);
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** As {@link #tryInjectWriteData}, but waits for room. */
    public void injectWriteData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        if (!tryInjectWriteData(local, offset, length, data, peer, remote, remoteOffset)) {
            awaitRoom("fi_inject_writedata", peer,
                    () -> tryInjectWriteData(local, offset, length, data, peer, remote, remoteOffset));
        }
    }

    /** As {@link #tryWrite(MemoryRegion, long, long, Peer, RemoteRegion, long, long)}, of a slice to the start of a region. */
    public boolean tryWrite(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        return tryWrite(local.region(), local.offset(), local.length(), peer, remote, 0, token);
    }

    /** As {@link #tryWrite(MemoryRegion.Slice, Peer, RemoteRegion, long)}, but waits for room. */
    public void write(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        write(local.region(), local.offset(), local.length(), peer, remote, 0, token);
    }

    /** As {@link #tryRead(MemoryRegion, long, long, Peer, RemoteRegion, long, long)}, into a slice from the start of a region. */
    public boolean tryRead(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        return tryRead(local.region(), local.offset(), local.length(), peer, remote, 0, token);
    }

    /** As {@link #tryRead(MemoryRegion.Slice, Peer, RemoteRegion, long)}, but waits for room. */
    public void read(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, long token) {
        read(local.region(), local.offset(), local.length(), peer, remote, 0, token);
    }

    /**
     * Writes to a peer, and then injects a flag that is not there before: a target that sees the flag
     * ({@link MemoryRegion#getLongAcquire}) has the bytes. Waits for room for both.
     *
     * @param local the bytes
     * @param remote the target of the bytes, at its start
     * @param flag the bytes of the flag, {@link #injectSize} at most; they may be changed at once
     * @param remoteFlag the target of the flag, at its start; of the same peer
     * @param token comes back with the completion of the write; the flag gives none
     * @throws UnsupportedOperationException if the provider does not promise to write in order ({@link MessageOrder#RMA_WAW},
     *         {@link io.ofi4j.info.EndpointAttributes#maximumOrderWriteAfterWrite}); {@link #writeData} tells the target then
     * @throws FabricTimeoutException if there is no room in time; the bytes may have been written then, but not the flag
     */
    public void writeThenNotify(MemoryRegion.Slice local, Peer peer, RemoteRegion remote, MemoryRegion.Slice flag,
            RemoteRegion remoteFlag, long token) {
        long longest = endpoint.info().endpoint().maximumOrderWriteAfterWrite();
        long promised = endpoint.info().transmit().messageOrder();
        if ((promised & MessageOrder.RMA_WAW.bit()) == 0 || Long.compareUnsigned(local.length(), longest) > 0) {
            throw new UnsupportedOperationException(
                    "the provider " + provider + " does not promise that a write of " + local.length()
                            + " bytes lands before the next: use writeData, which tells the target by a completion");
        }
        requireInjectable(flag.length());
        require(flag.region(), WRITE, flag.offset(), flag.length(), peer, remoteFlag, REMOTE_WRITE, 0);
        write(local, peer, remote, token);
        injectWrite(flag.region(), flag.offset(), flag.length(), peer, remoteFlag, 0);
    }

    /**
     * Starts a flush of a peer if there is room. Its completion says that all that this endpoint has posted to the peer
     * before is at the peer: writes of any form, injected ones too, and atomic operations. They are in the peer's
     * memory then, whatever has become of their own completions; one that has failed has an error of its own. A flush
     * changes no byte. {@link #flushCoversMessages} says whether messages are covered.
     *
     * <p>It is one operation that the peer answers behind the others: a write of no bytes with {@link
     * OperationFlag#DELIVERY_COMPLETE}, a read of one byte, or an atomic read of 8 bytes; fi_writemsg, fi_readmsg and
     * fi_fetch_atomic. As for any operation of a peer, the peer makes progress meanwhile. What is posted behind a flush
     * does not wait for it. A queue that was bound with {@link Endpoint#bindSelective} reports it, too.
     *
     * @param peer whom to flush
     * @param remote any region of the peer, of 8 bytes or more at a multiple of 8, with {@link Access#REMOTE_READ} and
     *         {@link Access#REMOTE_WRITE}: a provider needs one of them, and shorter ones may do
     * @param token comes back with the completion, whose other values say nothing
     * @return whether the flush was accepted
     * @throws IllegalArgumentException also if the region lacks the right that this provider needs
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
     * {@return whether a flush also says that the messages of this endpoint, posted before it, are in the receives of
     * the peer that have taken them} Where not, the peer's polls bring them there, which may be later.
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

    /** Before the endpoint closes. */
    synchronized void closeFlush() { if (flush != null) { flush.close(); } }

    /**
     * {@return a prepared operation without segments, for several segments, flags, and repeated posts; fi_writemsg and similar
     * calls}
     */
    public PreparedRma message() {
        TransmitAttributes limits = endpoint.info().transmit();
        return new PreparedRma(this, new RmaMessageStruct((int) Math.min(limits.iovLimit(), Prepared.MAX_SEGMENTS),
                (int) Math.min(limits.rmaIovLimit(), Integer.MAX_VALUE)));
    }

    /** Of a read into several local segments. */
    void requireMultiSegmentReads() {
        Quirks.require(multiSegmentRefusal);
    }
}
