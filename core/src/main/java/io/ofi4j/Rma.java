package io.ofi4j;

import io.ofi4j.internal.ContextSlab;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricConstants;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.RmaOps;
import java.time.Duration;

/**
 * One-sided transfers between a region of this process and a region of a peer; fi_rma(3). Handed out by
 * {@link Endpoint#rma}.
 *
 * <p>Every operation but an inject gives one completion on the endpoint's queue, with the token that it was posted with; until
 * then the local bytes must not be changed. A {@code try} form returns false where the provider has no room
 * ({@code -FI_EAGAIN}) or the queue's operations are all in flight: poll, and try again. The form without {@code try} makes
 * progress on the domain's queues until there is room, for as long as {@link Endpoint#postTimeout()} says; completions that
 * come meanwhile are kept for the next poll.
 *
 * <p>Everything is checked before native code is reached: bounds and rights at both ends, the regions' domain and life, the
 * peer's vector. What is posted allocates nothing. Offsets and lengths are in bytes. Threads: as the domain's
 * {@link ThreadingModel} says.
 */
public final class Rma {
    private static final long READ = Access.READ.bit();
    private static final long WRITE = Access.WRITE.bit();
    private static final long REMOTE_READ = Access.REMOTE_READ.bit();
    private static final long REMOTE_WRITE = Access.REMOTE_WRITE.bit();
    /** What a read's completion says. */
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

    private final Endpoint endpoint;
    private final RmaOps ops;
    private final Domain domain;
    private final AddressVector vector;
    private final CompletionQueue queue;
    private final ContextSlab contexts;
    private final Guard guard;
    private final int number;
    private final long maximumMessageSize;
    private final long injectSize;
    /** The ofi_rxd utility provider never completes a read of no bytes, so that is done here. */
    private final boolean emptyReadsHang;

    Rma(Endpoint endpoint, RmaOps ops) {
        this.endpoint = endpoint;
        this.ops = ops;
        this.domain = endpoint.domain;
        this.vector = endpoint.vector();
        this.queue = endpoint.transmitQueue();
        this.contexts = queue.contexts;
        this.guard = queue.guard;
        this.emptyReadsHang = endpoint.info().provider().contains("ofi_rxd");
        this.number = endpoint.number;
        this.maximumMessageSize = endpoint.info().endpoint().maximumMessageSize();
        this.injectSize = endpoint.info().transmit().injectSize();
    }

    /** {@return the most bytes that one operation transfers} */
    public long maximumMessageSize() {
        return maximumMessageSize;
    }

    /** {@return the most bytes that an inject transfers} */
    public long injectSize() {
        return injectSize;
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
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryWrite(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteOffset, long token) {
        check(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
        guard.enter();
        try {
            int slot = begin(local, peer, token);
            return slot >= 0
                    && end(slot, ops.fi_write(local.address + offset, length, local.descriptor, peer.fabricAddress,
                            remote.base() + remoteOffset, remote.key(), contexts.context(slot)), "fi_write");
        } finally {
            guard.exit();
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
     * @throws IllegalStateException if the endpoint or the local region is closed, or the peer was removed
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void write(MemoryRegion local, long offset, long length, Peer peer, RemoteRegion remote, long remoteOffset,
            long token) {
        if (!tryWrite(local, offset, length, peer, remote, remoteOffset, token)) {
            Room room = new Room("fi_write");
            while (!tryWrite(local, offset, length, peer, remote, remoteOffset, token)) {
                room.make();
            }
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
        check(local, READ, offset, length, peer, remote, REMOTE_READ, remoteOffset);
        guard.enter();
        try {
            if (length == 0 && emptyReadsHang) {
                requireOpen(local, peer);
                return queue.keep(token, READ_COMPLETION);
            }
            int slot = begin(local, peer, token);
            return slot >= 0 && end(slot, ops.fi_read(local.address + offset, length, local.descriptor,
                    peer.fabricAddress, remote.base() + remoteOffset, remote.key(), contexts.context(slot)), "fi_read");
        } finally {
            guard.exit();
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
            Room room = new Room("fi_read");
            while (!tryRead(local, offset, length, peer, remote, remoteOffset, token)) {
                room.make();
            }
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
        if (length > injectSize) {
            throw tooLong("an inject", length, injectSize);
        }
        check(local, WRITE, offset, length, peer, remote, REMOTE_WRITE, remoteOffset);
        guard.enter();
        try {
            requireOpen(local, peer);
            long status = ops.fi_inject_write(local.address + offset, length, peer.fabricAddress,
                    remote.base() + remoteOffset, remote.key());
            return status == 0 || isRefused(status, "fi_inject_write");
        } finally {
            guard.exit();
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
            Room room = new Room("fi_inject_write");
            while (!tryInjectWrite(local, offset, length, peer, remote, remoteOffset)) {
                room.make();
            }
        }
    }

    /** What can be known without the guard: everything that never changes. */
    private void check(MemoryRegion local, long localRight, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteRight, long remoteOffset) {
        if ((offset | length | remoteOffset) < 0 || offset > local.length - length
                || remoteOffset > remote.length() - length) {
            throw outOfBounds(local, offset, length, remote, remoteOffset);
        }
        if ((local.accessBits & localRight) == 0 || (remote.accessBits() & remoteRight) == 0 || local.domain != domain
                || peer.vector != vector || length > maximumMessageSize) {
            throw notAllowed(local, localRight, length, peer, remote, remoteRight);
        }
    }

    /** Takes a slot for an operation: its number, or -1 where all are taken. */
    private int begin(MemoryRegion local, Peer peer, long token) {
        requireOpen(local, peer);
        return contexts.acquire(token, number, local.number);
    }

    /** What another thread may change: looked at inside the guard. */
    private void requireOpen(MemoryRegion local, Peer peer) {
        if (endpoint.closed || local.state != MemoryRegion.OPEN || peer.removed || !local.isMemoryAlive()) {
            throw closed(local, peer);
        }
    }

    private boolean end(int slot, long status, String operation) {
        if (status == 0) {
            return true;
        }
        contexts.release(slot);
        return isRefused(status, operation);
    }

    /** False for want of room; anything else is thrown. */
    private boolean isRefused(long status, String operation) {
        if (status == -Errno.EAGAIN) {
            return false;
        }
        throw FabricException.of(status, operation, endpoint.info().provider());
    }

    private IllegalStateException closed(MemoryRegion local, Peer peer) {
        if (endpoint.closed) {
            return endpoint.closed();
        }
        if (peer.removed) {
            return new IllegalStateException(peer + ": it was removed, or its endpoint in this process is closed");
        }
        return new IllegalStateException(
                local.state != MemoryRegion.OPEN ? local.toString() : "the arena of this region's memory is closed");
    }

    private static IndexOutOfBoundsException outOfBounds(MemoryRegion local, long offset, long length,
            RemoteRegion remote, long remoteOffset) {
        boolean here = offset < 0 || length < 0 || offset > local.length - length;
        return new IndexOutOfBoundsException(
                length + " bytes at " + (here ? "" : "remote ") + "offset " + (here ? offset : remoteOffset)
                        + " are not inside a region of " + (here ? local.length : remote.length()) + " bytes");
    }

    private IllegalArgumentException notAllowed(MemoryRegion local, long localRight, long length, Peer peer,
            RemoteRegion remote, long remoteRight) {
        if (length > maximumMessageSize) {
            return tooLong("an operation", length, maximumMessageSize);
        }
        if (local.domain != domain) {
            return new IllegalArgumentException("the local region is registered in another domain");
        }
        if (peer.vector != vector) {
            return new IllegalArgumentException(peer + " is not in the address vector of " + endpoint);
        }
        boolean here = (local.accessBits & localRight) == 0;
        return new IllegalArgumentException("the " + (here ? "local" : "remote") + " region is registered for "
                + (here ? local.access() : remote.access()) + ", which lacks "
                + Access.setOf(here ? localRight : remoteRight));
    }

    private IllegalArgumentException tooLong(String what, long length, long limit) {
        return new IllegalArgumentException(what + " on provider " + endpoint.info().provider() + " has at most "
                + limit + " bytes, not " + length);
    }

    /** Makes room for an operation by making progress, for as long as the endpoint's timeout says. */
    private final class Room {
        private final String operation;
        private final Duration timeout = endpoint.postTimeout();
        private final long start = System.nanoTime();
        private int turns;

        Room(String operation) {
            this.operation = operation;
        }

        void make() {
            domain.progress();
            if (++turns % 64 == 0 && System.nanoTime() - start >= timeout.toNanos()) {
                throw new FabricTimeoutException(operation, timeout, "The provider " + endpoint.info().provider()
                        + " has no room: is the peer there and polling its queue, and does this side poll for its completions?");
            }
            Waiting.YIELD.pause(turns);
        }
    }
}
