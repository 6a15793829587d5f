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
     * Checks an operation. One comparison says that all bytes are there, one that both regions have the rights and the
     * local one is open, and one that the endpoint is enabled and the peer is in its vector. Each comparison more makes
     * the code of a post longer than what the compiler inlines.
     */
    final void require(MemoryRegion local, long localRight, long offset, long length, Peer peer, RemoteRegion remote,
            long remoteRight, long remoteOffset) {
        require(local, localRight, offset, length, maximumMessageSize, peer, remote, remoteRight, remoteOffset);
    }

    /** As the other, of an operation of at most so many bytes: no more than one may have, or than an inject. */
    final void require(MemoryRegion local, long localRight, long offset, long length, long limit, Peer peer,
            RemoteRegion remote, long remoteRight, long remoteOffset) {
        long room = local.length - length;
        long remoteRoom = remote.length() - length;
        if ((offset | length | remoteOffset | room | room - offset | remoteRoom | remoteRoom - remoteOffset
                | limit - length) < 0) {
            throw outOfBounds(local, offset, length, limit, remote, remoteOffset);
        }
        if ((local.rights & localRight | remote.accessBits() & remoteRight) != (localRight | remoteRight)
                || local.domain != domain || peer.reachableVector != endpoint.reachableVector
                || !local.isMemoryAlive()) {
            throw notAllowed(local, localRight, peer, remote, remoteRight);
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

    private RuntimeException outOfBounds(MemoryRegion local, long offset, long length, long limit, RemoteRegion remote,
            long remoteOffset) {
        if (local.hasSeveralSegments()) { return local.severalSegments(); }
        if ((offset | length) < 0 || offset > local.length - length) {
            return outOfBounds("", offset, length, local.length);
        }
        return remoteOffset < 0 || remoteOffset > remote.length() - length
                ? outOfBounds("remote ", remoteOffset, length, remote.length())
                : tooLong(limit < maximumMessageSize ? "an inject" : "an operation", length, limit);
    }

    private RuntimeException notAllowed(MemoryRegion local, long localRight, Peer peer, RemoteRegion remote,
            long remoteRight) {
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
