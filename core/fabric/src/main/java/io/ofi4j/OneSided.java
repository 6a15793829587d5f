package io.ofi4j;

/** The common part of transfers and atomic operations, which need a local region and a region of a peer. */
abstract sealed class OneSided extends PostPath permits Rma, Atomics {
    static final long READ = Access.READ.bit();
    static final long WRITE = Access.WRITE.bit();
    static final long REMOTE_READ = Access.REMOTE_READ.bit();
    static final long REMOTE_WRITE = Access.REMOTE_WRITE.bit();

    OneSided(Endpoint endpoint) { super(endpoint); }

    /** {@return the largest number of bytes of an inject} */
    public final long injectSize() { return injectSize; }

    /**
     * Checks an operation. One comparison says that the endpoint is enabled and that the peer is in its vector; one
     * says that the region is open and has the right.
     */
    final void require(MemoryRegion local, long localRight, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteRight, long remoteOffset) {
        require(local, localRight, offset, length, maximumMessageSize, peer, remote, remoteRight, remoteOffset);
    }

    /** As the other, of an operation of at most so many bytes: no more than one may have, or than an inject. */
    final void require(MemoryRegion local, long localRight, long offset, long length, long limit, Peer peer,
            RemoteRegion remote, long remoteRight, long remoteOffset) {
        if ((offset | length | remoteOffset) < 0 || offset > local.length - length
                || remoteOffset > remote.length() - length) {
            throw outOfBounds(local, offset, length, remote, remoteOffset);
        }
        if ((local.rights & localRight) == 0 || (remote.accessBits() & remoteRight) == 0 || local.domain != domain
                || peer.reachableVector != endpoint.reachableVector || length > limit || !local.isMemoryAlive()) {
            throw notAllowed(local, localRight, length, limit, peer, remote, remoteRight);
        }
    }

    /** As {@link #require}, for an operation whose operand is not in a region. */
    final void requireTarget(long length, Peer peer, RemoteRegion remote, long remoteRight, long remoteOffset) {
        requireInside(remote, remoteOffset, length);
        if (peer.reachableVector != endpoint.reachableVector) {
            requireVector(peer);
            throw unreachable(peer);
        }
        if ((remote.accessBits() & remoteRight) == 0) { throw lacking(remote, remoteRight); }
    }

    /** Checks a remote segment of a prepared operation. */
    final void requireInside(RemoteRegion remote, long offset, long length) {
        if ((offset | length) < 0 || offset > remote.length() - length) {
            throw outOfBounds("remote ", offset, length, remote.length());
        }
    }

    private RuntimeException outOfBounds(MemoryRegion local, long offset, long length, RemoteRegion remote,
            long remoteOffset) {
        if (local.hasSeveralSegments()) { return local.severalSegments(); }
        boolean isLocal = offset < 0 || length < 0 || offset > local.length - length;
        return isLocal
                ? outOfBounds("", offset, length, local.length)
                : outOfBounds("remote ", remoteOffset, length, remote.length());
    }

    private RuntimeException notAllowed(MemoryRegion local, long localRight, long length, long limit, Peer peer,
            RemoteRegion remote, long remoteRight) {
        if (length > limit) { return tooLong(limit == injectSize ? "an inject" : "an operation", length, limit); }
        requireDomain(local);
        requireVector(peer);
        boolean isLocal = (local.accessBits & localRight) == 0;
        if (isLocal) {
            return new IllegalArgumentException("the local region is registered for " + local.access()
                    + ", which lacks " + Access.setOf(localRight));
        }
        return (remote.accessBits() & remoteRight) == 0 ? lacking(remote, remoteRight) : closed(local, peer);
    }

    private static IllegalArgumentException lacking(RemoteRegion remote, long right) {
        return new IllegalArgumentException(
                "the remote region is registered for " + remote.access() + ", which lacks " + Access.setOf(right));
    }
}
