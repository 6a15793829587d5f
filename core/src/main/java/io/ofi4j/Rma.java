package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.RmaOps;

/**
 * One-sided transfers between a region of this process and a region of a peer; fi_rma(3). Handed out by
 * {@link Endpoint#rma}.
 *
 * <p>Every operation but an inject gives one completion on the endpoint's queue, with the token that it was posted with (unless
 * the queue was bound with {@link Endpoint#bindSelective}); until then the local bytes must not be changed. A {@code try} form returns false where the provider has no room
 * ({@code -FI_EAGAIN}) or the queue's operations are all in flight: poll, and try again. The form without {@code try} makes
 * progress on the domain's queues until there is room, for as long as {@link Endpoint#postTimeout()} says; completions that
 * come meanwhile are kept for the next poll.
 *
 * <p>Everything is checked before native code is reached: bounds and rights at both ends, the regions' domain and life, the
 * peer's vector. With {@code udp;ofi_rxd} there is no room for a write of more than {@link #injectSize} bytes while an operation of
 * the endpoint is in flight, if a read was posted since there was none: the provider would end neither. What is posted allocates nothing. Offsets and lengths are in bytes. Threads: as the domain's
 * {@link ThreadingModel} says.
 */
public final class Rma {
    private static final long READ = Access.READ.bit();
    private static final long WRITE = Access.WRITE.bit();
    private static final long REMOTE_READ = Access.REMOTE_READ.bit();
    private static final long REMOTE_WRITE = Access.REMOTE_WRITE.bit();

    private final Endpoint endpoint;
    private final RmaOps ops;
    private final TransferChecks checks;
    private final PostOutcome slots;
    private final ContextSlab contexts;
    private final ThreadGuard guard;
    /** The guard's. */
    private final Thread unlocked;
    /** The endpoint's, for operations without flags of their own. */
    private final long number;
    private final boolean emptyReadsHang;
    private final RmaPosting posting;

    Rma(Endpoint endpoint, RmaOps ops) {
        this.endpoint = endpoint;
        this.ops = ops;
        this.checks = new TransferChecks(endpoint);
        this.slots = new PostOutcome(endpoint, checks);
        this.contexts = endpoint.transmitQueue().contexts;
        this.guard = endpoint.transmitQueue().guard;
        this.unlocked = guard.unlocked();
        this.number = slots.numberFor(endpoint.info().transmit().operationFlags());
        this.emptyReadsHang = slots.emptyReadsHang();
        this.posting = new RmaPosting(endpoint, ops, checks, slots);
    }

    /** {@return the most bytes that one operation transfers} */
    public long maximumMessageSize() {
        return checks.maximumMessageSize();
    }

    /** {@return the most bytes that an inject transfers} */
    public long injectSize() {
        return checks.injectSize();
    }

    /**
     * Starts writing to a peer's memory if there is room; fi_write.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @param token comes back with the completion
     * @return whether the write was accepted
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #maximumMessageSize}
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE} by default
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            if (length == 0) {
                slots.requireEmptyWriteCompletes();
            }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE
                    && end(context, ops.fi_write(local.address + offset, length, local.descriptor, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), context), "fi_write");
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * Starts writing to a peer's memory, and makes progress until there is room; fi_write.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #maximumMessageSize}
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE} by default
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void write(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote, long remoteOffset,
            long token) {
        if (!tryWrite(local, offset, length, peer, remote, remoteOffset, token)) {
            PostRetry room = new PostRetry(endpoint, "fi_write");
            while (!tryWrite(local, offset, length, peer, remote, remoteOffset, token)) {
                room.make();
            }
            room.found();
        }
    }

    /**
     * Starts reading from a peer's memory if there is room; fi_read.
     *
     * @param local where the bytes come to; needs {@link Access#READ}
     * @param offset where in it
     * @param length how many bytes, 0 included
     * @param peer whose memory
     * @param remote the source; needs {@link Access#REMOTE_READ}
     * @param remoteOffset where in it the bytes begin
     * @param token comes back with the completion
     * @return whether the read was accepted
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #maximumMessageSize}
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryRead(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.require(local, READ, offset, length, peer, remote, REMOTE_READ, remoteOffset);
            if (length == 0 && emptyReadsHang) {
                return slots.readsNothing(number, token);
            }
            long context = contexts.acquire(token, number | ContextSlab.READ, local.number);
            return context != ContextSlab.NONE
                    && end(context, ops.fi_read(local.address + offset, length, local.descriptor, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), context), "fi_read");
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * Starts reading from a peer's memory, and makes progress until there is room; fi_read.
     *
     * @param local where the bytes come to; needs {@link Access#READ}
     * @param offset where in it
     * @param length how many bytes, 0 included
     * @param peer whose memory
     * @param remote the source; needs {@link Access#REMOTE_READ}
     * @param remoteOffset where in it the bytes begin
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #maximumMessageSize}
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void read(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote, long remoteOffset,
            long token) {
        if (!tryRead(local, offset, length, peer, remote, remoteOffset, token)) {
            PostRetry room = new PostRetry(endpoint, "fi_read");
            while (!tryRead(local, offset, length, peer, remote, remoteOffset, token)) {
                room.make();
            }
            room.found();
        }
    }

    /**
     * Writes a few bytes to a peer's memory without a completion, if there is room; fi_inject_write. The local bytes may be
     * changed at once.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, from 0 to {@link #injectSize}
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @return whether the write was accepted
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #injectSize}
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryInjectWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        checks.requireInjectable(length);
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            long status = ops.fi_inject_write(local.address + offset, length, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key());
            return status == 0 || checks.isRefused(status, "fi_inject_write");
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * Writes a few bytes to a peer's memory without a completion, and makes progress until there is room; fi_inject_write. The
     * local bytes may be changed at once.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, from 0 to {@link #injectSize}
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @throws FabricTimeoutException if there is no room in time; nothing was written then
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, or the
     *         length is above {@link #injectSize}
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void injectWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        if (!tryInjectWrite(local, offset, length, peer, remote, remoteOffset)) {
            PostRetry room = new PostRetry(endpoint, "fi_inject_write");
            while (!tryInjectWrite(local, offset, length, peer, remote, remoteOffset)) {
                room.make();
            }
            room.found();
        }
    }

    /**
     * Starts writing to a peer's memory if there is room, and gives the peer a completion with data; fi_writedata.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param data what the peer's completion carries, {@link DomainAttributes#completionDataSize} bytes
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @param token comes back with the completion
     * @return whether the write was accepted
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, the
     *         length is above {@link #maximumMessageSize}, or the data has more bytes than the provider carries
     * @throws UnsupportedOperationException if the provider carries no data, or, as shm of libfabric 1.x, would never
     *         complete it: no bytes, and {@link OperationFlag#DELIVERY_COMPLETE} by default
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryWriteData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        checks.requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            if (length == 0) {
                slots.requireEmptyWriteCompletes();
            }
            long context = contexts.acquire(token, number, local.number);
            return context != ContextSlab.NONE
                    && end(context, ops.fi_writedata(local.address + offset, length, local.descriptor, data,
                            peer.fabricAddress, remote.base() + remoteOffset, remote.key(), context), "fi_writedata");
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * Starts writing to a peer's memory, gives the peer a completion with data, and makes progress until there is room;
     * fi_writedata.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param data what the peer's completion carries, {@link DomainAttributes#completionDataSize} bytes
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, the
     *         length is above {@link #maximumMessageSize}, or the data has more bytes than the provider carries
     * @throws UnsupportedOperationException if the provider carries no data, or, as shm of libfabric 1.x, would never
     *         complete it: no bytes, and {@link OperationFlag#DELIVERY_COMPLETE} by default
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void writeData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        if (!tryWriteData(local, offset, length, data, peer, remote, remoteOffset, token)) {
            PostRetry room = new PostRetry(endpoint, "fi_writedata");
            while (!tryWriteData(local, offset, length, data, peer, remote, remoteOffset, token)) {
                room.make();
            }
            room.found();
        }
    }

    /**
     * Writes a few bytes to a peer's memory without a completion here, if there is room, and gives the peer a completion with
     * data; fi_inject_writedata. The local bytes may be changed at once.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param data what the peer's completion carries, {@link DomainAttributes#completionDataSize} bytes
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @return whether the write was accepted
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, the
     *         length is above {@link #injectSize}, or the data has more bytes than the provider carries
     * @throws UnsupportedOperationException if the provider carries no data
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryInjectWriteData(MemoryRegion local, long offset, long length, long data, Peer peer,
            RemoteRegion remote, long remoteOffset) {
        checks.requireInjectable(length);
        checks.requireData(data);
        boolean entered = ThreadGuard.enter(guard, unlocked);
        try {
            checks.require(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
            long status = ops.fi_inject_writedata(local.address + offset, length, data, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key());
            return status == 0 || checks.isRefused(status, "fi_inject_writedata");
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /**
     * Writes a few bytes to a peer's memory without a completion here, gives the peer a completion with data, and makes
     * progress until there is room; fi_inject_writedata. The local bytes may be changed at once.
     *
     * @param local the source; needs {@link Access#WRITE}
     * @param offset where in it the bytes begin
     * @param length how many bytes, 0 included
     * @param data what the peer's completion carries, {@link DomainAttributes#completionDataSize} bytes
     * @param peer whose memory
     * @param remote the target; needs {@link Access#REMOTE_WRITE}
     * @param remoteOffset where in it the bytes go
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IndexOutOfBoundsException if the bytes are not all inside both regions
     * @throws IllegalArgumentException if a region lacks the right or is another domain's, the peer is another vector's, the
     *         length is above {@link #injectSize}, or the data has more bytes than the provider carries
     * @throws UnsupportedOperationException if the provider carries no data
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void injectWriteData(MemoryRegion local, long offset, long length, long data, Peer peer, RemoteRegion remote,
            long remoteOffset) {
        if (!tryInjectWriteData(local, offset, length, data, peer, remote, remoteOffset)) {
            PostRetry room = new PostRetry(endpoint, "fi_inject_writedata");
            while (!tryInjectWriteData(local, offset, length, data, peer, remote, remoteOffset)) {
                room.make();
            }
            room.found();
        }
    }

    /**
     * {@return a prepared operation without segments, for several of them, flags, and posting again; fi_writemsg and its kin}
     */
    public RmaMessage message() {
        TransmitAttributes limits = endpoint.info().transmit();
        return new RmaMessage(posting, checks, limits.iovLimit(), limits.rmaIovLimit());
    }

    private boolean end(long context, long status, String operation) {
        return status == 0 || slots.refused(context, status, operation);
    }
}
