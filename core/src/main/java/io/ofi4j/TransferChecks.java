package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.Durability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.quirks.Fact;

/** Checks a transfer before native code is reached, and makes the exceptions. */
final class TransferChecks {
    private static final long SEND = Access.SEND.bit();
    private static final long RECEIVE = Access.RECEIVE.bit();

    final String provider;
    final long maximumMessageSize;
    final long injectSize;

    private final Endpoint endpoint;
    private final Domain domain;
    private final long completionDataSize;
    private final boolean fillsOneSegment;

    TransferChecks(Endpoint endpoint) {
        FabricInfo info = endpoint.info();
        this.endpoint = endpoint;
        this.domain = endpoint.domain;
        this.provider = info.provider();
        this.maximumMessageSize = info.endpoint().maximumMessageSize();
        this.injectSize = info.transmit().injectSize();
        this.completionDataSize = info.domain().completionDataSize();
        this.fillsOneSegment = domain.quirks.has(Fact.READS_FILL_ONE_SEGMENT);
    }

    /**
     * Called inside the guard, since other threads may close and remove. One comparison checks that the peer is there and in the
     * endpoint's vector, and that the endpoint is open; one that the region is open and has the right.
     */
    void require(MemoryRegion local, long localRight, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteRight, long remoteOffset) {
        if ((offset | length | remoteOffset) < 0 || offset > local.length - length
                || remoteOffset > remote.length() - length) {
            throw outOfBounds(local, offset, length, remote, remoteOffset);
        }
        if ((local.rights & localRight) == 0 || (remote.accessBits() & remoteRight) == 0 || local.domain != domain
                || peer.realm != endpoint.realm || length > maximumMessageSize || !local.isMemoryAlive()) {
            throw notAllowed(local, localRight, length, peer, remote, remoteRight);
        }
    }

    /** As {@link #require}, of a message to a peer. */
    void requireSend(MemoryRegion local, long offset, long length, Peer peer) {
        requireInside(local, offset, length);
        if ((local.rights & SEND) == 0 || local.domain != domain || peer.realm != endpoint.realm
                || length > maximumMessageSize || length > peer.longestMessage || !local.isMemoryAlive()) {
            throw notAllowed(local, SEND, length, peer);
        }
    }

    /** As {@link #require}, of a receive; called inside the guard of receives. */
    void requireReceive(MemoryRegion local, long offset, long length) {
        requireInside(local, offset, length);
        if ((local.rights & RECEIVE) == 0 || local.domain != domain || !endpoint.receives || endpoint.bindings.isLost
                || !local.isMemoryAlive()) {
            requireReceiving();
            requireDomain(local);
            if ((local.accessBits & RECEIVE) == 0) { throw lacking(local, RECEIVE); }
            throw closed(local);
        }
    }

    /** As {@link #require}, of a buffer of a collective operation, with all of these rights; called inside the guard. */
    void requireBuffer(MemoryRegion local, long rights, long offset, long length) {
        requireInside(local, offset, length);
        requireDomain(local);
        if ((local.accessBits & rights) != rights) { throw lacking(local, rights & ~local.accessBits); }
        if (local.rights == 0 || !local.isMemoryAlive()) { throw closed(local); }
        if (local.kind() == MemoryKind.DEVICE) {
            throw new UnsupportedOperationException("a collective operation computes in memory of the system:"
                    + " copy the device's bytes there first");
        }
    }

    void requireInside(MemoryRegion local, long offset, long length) {
        if ((offset | length) < 0 || offset > local.length - length) {
            throw local.hasSeveralSegments() ? local.several() : outOfBounds("", offset, length, local.length);
        }
    }

    void requireReceiving() { if (!endpoint.receives || endpoint.bindings.isLost) { throw receivesNothing(); } }

    private RuntimeException receivesNothing() {
        if (endpoint.closed) { return endpoint.closed(); }
        if (!endpoint.bindings.role.receives()) {
            return new UnsupportedOperationException(
                    endpoint + " receives nothing: post receives to a receive context");
        }
        Endpoint shared = endpoint.bindings.sharedReceive();
        return new IllegalStateException(shared == null
                ? endpoint + " has lost its connection"
                : endpoint + " receives through " + shared + ": post the receive there");
    }

    /** Called inside a guard, for a peer to receive from. */
    void requireReachable(Peer peer) {
        if (peer.realm != endpoint.bindings.vector() || endpoint.closed) {
            requireVector(peer);
            throw unreachable(peer);
        }
    }

    void requireSavable(RemoteRegion region, Durability level) {
        if ((region.accessBits() & Access.REMOTE_WRITE.bit()) == 0) {
            throw new IllegalArgumentException("the remote region is registered for " + region.access()
                    + ", which lacks REMOTE_WRITE: there is nothing to save");
        }
        Durability most = Durability.of(region.kind());
        if (!most.meets(level)) {
            throw new UnsupportedOperationException("bytes in memory of kind " + region.kind() + " are " + most
                    + " at most, not " + level + ": let the owner map a file on a disk with Domain.map");
        }
    }

    private RuntimeException notAllowed(MemoryRegion local, long localRight, long length, Peer peer) {
        endpoint.bindings.requireSending();
        if (length > maximumMessageSize) { return tooLong("a message", length, maximumMessageSize); }
        requireDomain(local);
        requireVector(peer);
        if (length > peer.longestMessage) { return tooLong("a message to " + peer, length, peer.longestMessage); }
        return (local.accessBits & localRight) == 0 ? lacking(local, localRight) : closed(local, peer);
    }

    private static IllegalArgumentException lacking(MemoryRegion local, long right) {
        return new IllegalArgumentException(
                "the region is registered for " + local.access() + ", which lacks " + Access.setOf(right));
    }

    /** As {@link #require}, for a message whose bounds were checked when it was prepared. */
    void require(PreparedMessage message, PreparedMessage.Call call) {
        if ((message.flags & OperationFlag.INJECT.bit()) != 0 && !call.isReceive) { requireInjectable(message.length); }
        if (message.length > maximumMessageSize && !call.isReceive) {
            throw tooLong("a message", message.length, maximumMessageSize);
        }
        if (!call.isReceive && message.peer != null && message.length > message.peer.longestMessage) {
            throw tooLong("a message to " + message.peer, message.length, message.peer.longestMessage);
        }
        long right = call.isReceive ? RECEIVE : SEND;
        if ((message.rights & right) == 0) {
            throw new IllegalArgumentException("a segment's region lacks " + Access.setOf(right));
        }
    }

    void requireOpen(MemoryRegion[] regions, int count, Peer peer) {
        if (peer.realm != endpoint.realm) {
            endpoint.bindings.requireSending();
            throw unreachable(peer);
        }
        requireOpen(regions, count);
    }

    void requireOpen(MemoryRegion[] regions, int count) {
        for (int i = 0; i < count; i++) {
            if (regions[i].rights == 0 || !regions[i].isMemoryAlive()) { throw closed(regions[i]); }
        }
    }

    void requireInjectable(long length) { if (length > injectSize) { throw tooLong("an inject", length, injectSize); } }

    void requireData(long data) {
        if (completionDataSize < Long.BYTES
                && (completionDataSize == 0 || data >>> completionDataSize * Byte.SIZE != 0)) {
            throw badData(data);
        }
    }

    void requireOffered(OperationFlag flag) {
        Capability needed = switch (flag) {
            case FENCE -> Capability.FENCE;
            case COMMIT_COMPLETE -> Capability.RMA_PMEM;
            default -> null;
        };
        if (needed != null && (endpoint.info().capabilityBits() & needed.bit()) == 0) {
            throw new UnsupportedOperationException(flag + " needs Capability." + needed + ", which " + endpoint
                    + " lacks: ask for it in FabricHints, or for another provider");
        }
        if (flag == OperationFlag.REMOTE_CQ_DATA) { requireData(0); }
    }

    void requireDomain(MemoryRegion local) {
        if (local.domain != domain) {
            throw new IllegalArgumentException("the local region is registered in another domain");
        }
    }

    void requireVector(Peer peer) {
        AddressVector vector = endpoint.bindings.vector();
        if (peer.vector != vector) {
            throw new IllegalArgumentException(peer + " is not "
                    + (vector.isOfConnection() ? "the peer" : "in the address vector") + " of " + endpoint);
        }
    }

    /** As the other {@code require}, for a message whose bounds were checked when it was prepared. */
    void require(RmaMessage message, long localRight, long remoteRight) {
        if (message.peer == null || message.localCount == 0 || message.remoteCount == 0
                || message.localLength != message.remoteLength) {
            throw incomplete(message);
        }
        if ((message.flags & OperationFlag.INJECT.bit()) != 0) { requireInjectable(message.localLength); }
        if (message.localLength > maximumMessageSize) {
            throw tooLong("an operation", message.localLength, maximumMessageSize);
        }
        if ((message.localRights & localRight) == 0 || (message.remoteRights & remoteRight) == 0) {
            boolean here = (message.localRights & localRight) == 0;
            throw new IllegalArgumentException("a " + (here ? "local" : "remote") + " segment's region lacks "
                    + Access.setOf(here ? localRight : remoteRight));
        }
    }

    void requireFillable(RmaMessage message) {
        if (fillsOneSegment && message.localCount > 1) {
            throw new UnsupportedOperationException(
                    "on Soft-iWARP a read into several local segments fills only the first, "
                            + "yet completes: read into each with an operation of its own");
        }
    }

    private static IllegalStateException incomplete(RmaMessage message) {
        if (message.peer == null) {
            return new IllegalStateException("the message has no peer: set one with peer(...)");
        }
        return new IllegalStateException("the message has " + message.localCount + " local segments of "
                + message.localLength + " bytes in total and " + message.remoteCount + " remote segments of "
                + message.remoteLength + ": it needs both, with the same number of bytes");
    }

    private RuntimeException closed(MemoryRegion local, Peer peer) {
        return endpoint.closed || peer.removed ? unreachable(peer) : closed(local);
    }

    private RuntimeException unreachable(Peer peer) {
        if (endpoint.closed) { return endpoint.closed(); }
        return endpoint.bindings.vector().isOfConnection()
                ? endpoint.connection().notConnected()
                : new IllegalStateException(peer + ": it was removed, or its endpoint in this process is closed");
    }

    private static IllegalStateException closed(MemoryRegion local) {
        return new IllegalStateException(local.state != MemoryRegion.OPEN
                ? local.toString()
                : local.kind() == MemoryKind.DEVICE
                        ? "the device's memory of this region was freed: close the region first"
                        : "the arena of this region's memory is closed");
    }

    private RuntimeException badData(long data) {
        if (completionDataSize == 0) {
            return new UnsupportedOperationException("completion data is not offered by the provider " + provider
                    + " here: write without it, and notify the peer in another way");
        }
        return new IllegalArgumentException("completion data of provider " + provider + " has " + completionDataSize
                + " bytes, too few for 0x" + Long.toHexString(data));
    }

    private static RuntimeException outOfBounds(MemoryRegion local, long offset, long length, RemoteRegion remote,
            long remoteOffset) {
        if (local.hasSeveralSegments()) { return local.several(); }
        boolean here = offset < 0 || length < 0 || offset > local.length - length;
        return here
                ? outOfBounds("", offset, length, local.length)
                : outOfBounds("remote ", remoteOffset, length, remote.length());
    }

    static IndexOutOfBoundsException outOfBounds(String where, long offset, long length, long size) {
        return new IndexOutOfBoundsException(
                length + " bytes at " + where + "offset " + offset + " are not inside a region of " + size + " bytes");
    }

    private RuntimeException notAllowed(MemoryRegion local, long localRight, long length, Peer peer,
            RemoteRegion remote, long remoteRight) {
        if (length > maximumMessageSize) { return tooLong("an operation", length, maximumMessageSize); }
        requireDomain(local);
        requireVector(peer);
        boolean here = (local.accessBits & localRight) == 0;
        if (!here && (remote.accessBits() & remoteRight) != 0) { return closed(local, peer); }
        return new IllegalArgumentException("the " + (here ? "local" : "remote") + " region is registered for "
                + (here ? local.access() : remote.access()) + ", which lacks "
                + Access.setOf(here ? localRight : remoteRight));
    }

    private IllegalArgumentException tooLong(String what, long length, long limit) {
        return new IllegalArgumentException(
                what + " on provider " + provider + " has at most " + limit + " bytes, not " + length);
    }
}
