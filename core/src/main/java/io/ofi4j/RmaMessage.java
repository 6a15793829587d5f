package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.RmaMessageStruct;
import java.util.Objects;

/**
 * A prepared one-sided operation: local segments, remote segments, peer, flags and completion data, which can be changed
 * one by one and posted again; {@code struct fi_msg_rma}, fi_rma(3). Made by {@link Rma#message}, for one endpoint. Bounds are
 * checked when a segment is set, rights and lives when it is posted. Changing it allocates nothing. Not for use by several
 * threads at once.
 */
public final class RmaMessage {
    final RmaMessageStruct struct;
    final MemoryRegion[] regions;
    /** The numbers of the regions behind the first, for the queue. */
    final int[] furtherRegions;
    int localCount;
    int remoteCount;
    long localLength;
    long remoteLength;
    long localRights;
    long remoteRights;
    long flags;
    Peer peer;

    private final long[] rightsOfRemotes;
    private final RmaPosting posting;
    private final TransferChecks checks;
    private final int localLimit;
    private final int remoteLimit;

    /** Which of libfabric's calls posts it. */
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

    RmaMessage(RmaPosting posting, TransferChecks checks, long iovLimit, long rmaIovLimit) {
        this.posting = posting;
        this.checks = checks;
        this.localLimit = (int) Math.min(iovLimit, ContextSlab.FURTHER + 1);
        this.remoteLimit = (int) Math.min(rmaIovLimit, Integer.MAX_VALUE);
        this.struct = new RmaMessageStruct(localLimit, remoteLimit);
        this.rightsOfRemotes = new long[remoteLimit];
        this.regions = new MemoryRegion[localLimit];
        this.furtherRegions = new int[localLimit];
        clear();
    }

    /** {@return how many local segments it takes} */
    public int localLimit() {
        return localLimit;
    }

    /** {@return how many remote segments it takes} */
    public int remoteLimit() {
        return remoteLimit;
    }

    /**
     * Removes every segment, local and remote; flags, data and peer stay.
     *
     * @return this message
     */
    public RmaMessage clear() {
        localCount = 0;
        remoteCount = 0;
        localLength = 0;
        remoteLength = 0;
        localRights = Access.ALL;
        remoteRights = Access.ALL;
        return this;
    }

    /**
     * Adds a local segment.
     *
     * @param region where it is
     * @param offset where in it
     * @param length how many bytes
     * @return this message
     * @throws IndexOutOfBoundsException if it is not all inside the region
     * @throws IllegalArgumentException if there are {@link #localLimit} already, or the region is another domain's
     */
    public RmaMessage local(MemoryRegion region, long offset, long length) {
        requireInside(region, offset, length);
        if (localCount == localLimit) {
            throw new IllegalArgumentException("provider " + checks.provider() + " takes " + localLimit
                    + " local segments an operation, and no more");
        }
        checks.requireDomain(region);
        put(localCount++, region, offset, length);
        localLength = sum(localLength, length);
        localRights &= region.accessBits;
        struct.localCount(localCount, localLength);
        return this;
    }

    /**
     * Puts another local segment in the place of one; the others stay.
     *
     * @param index which, from 0, in the order in which they were added
     * @param region where it is
     * @param offset where in it
     * @param length how many bytes
     * @return this message
     * @throws IndexOutOfBoundsException if there is none with this index, or it is not all inside the region
     * @throws IllegalArgumentException if the region is another domain's
     */
    public RmaMessage replaceLocal(int index, MemoryRegion region, long offset, long length) {
        requireInside(region, offset, length);
        Objects.checkIndex(index, localCount);
        checks.requireDomain(region);
        put(index, region, offset, length);
        localLength = 0;
        localRights = Access.ALL;
        for (int i = 0; i < localCount; i++) {
            localLength = sum(localLength, struct.localBytes(i));
            localRights &= regions[i].accessBits;
        }
        struct.localCount(localCount, localLength);
        return this;
    }

    private static void requireInside(MemoryRegion region, long offset, long length) {
        if ((offset | length) < 0 || offset > region.length - length) {
            throw region.hasSeveralSegments()
                    ? region.several()
                    : TransferChecks.outOfBounds("", offset, length, region.length);
        }
    }

    private void put(int index, MemoryRegion region, long offset, long length) {
        struct.local(index, region.address + offset, length, region.descriptor);
        regions[index] = region;
        if (index > 0) {
            furtherRegions[index - 1] = region.number;
        }
    }

    /**
     * Adds a remote segment.
     *
     * @param region where it is
     * @param offset where in it
     * @param length how many bytes
     * @return this message
     * @throws IndexOutOfBoundsException if it is not all inside the region
     * @throws IllegalArgumentException if there are {@link #remoteLimit} already
     */
    public RmaMessage remote(RemoteRegion region, long offset, long length) {
        requireInside(region, offset, length);
        if (remoteCount == remoteLimit) {
            throw new IllegalArgumentException("provider " + checks.provider() + " takes " + remoteLimit
                    + " remote segments an operation, and no more");
        }
        put(remoteCount++, region, offset, length);
        remoteLength = sum(remoteLength, length);
        remoteRights &= region.accessBits();
        struct.remoteCount(remoteCount);
        return this;
    }

    /**
     * Puts another remote segment in the place of one; the others stay.
     *
     * @param index which, from 0, in the order in which they were added
     * @param region where it is
     * @param offset where in it
     * @param length how many bytes
     * @return this message
     * @throws IndexOutOfBoundsException if there is none with this index, or it is not all inside the region
     */
    public RmaMessage replaceRemote(int index, RemoteRegion region, long offset, long length) {
        requireInside(region, offset, length);
        Objects.checkIndex(index, remoteCount);
        put(index, region, offset, length);
        remoteLength = 0;
        remoteRights = Access.ALL;
        for (int i = 0; i < remoteCount; i++) {
            remoteLength = sum(remoteLength, struct.remoteBytes(i));
            remoteRights &= rightsOfRemotes[i];
        }
        return this;
    }

    private static void requireInside(RemoteRegion region, long offset, long length) {
        if ((offset | length) < 0 || offset > region.length() - length) {
            throw TransferChecks.outOfBounds("remote ", offset, length, region.length());
        }
    }

    private void put(int index, RemoteRegion region, long offset, long length) {
        struct.remote(index, region.base() + offset, length, region.key());
        rightsOfRemotes[index] = region.accessBits();
    }

    /**
     * Sets whose memory it is for.
     *
     * @param whose a peer of the endpoint's vector
     * @return this message
     * @throws IllegalArgumentException if the peer is another vector's
     */
    public RmaMessage peer(Peer whose) {
        checks.requireVector(whose);
        peer = whose;
        struct.peer(whose.fabricAddress);
        return this;
    }

    /**
     * Sets how it is carried out, instead of what was set before.
     *
     * @param how any flags, or none
     * @return this message
     * @throws UnsupportedOperationException if the endpoint was opened without the capability that a flag needs, or the provider
     *         carries no data; nothing is changed then
     */
    public RmaMessage flags(OperationFlag... how) {
        long wanted = 0;
        for (OperationFlag flag : how) {
            checks.requireOffered(flag);
            wanted |= flag.bit();
        }
        flags = wanted;
        return this;
    }

    /**
     * Sets what the peer's completion carries where the flags have {@link OperationFlag#REMOTE_CQ_DATA}.
     *
     * @param data as many bytes as {@link DomainAttributes#completionDataSize} says
     * @return this message
     * @throws IllegalArgumentException if it has more bytes
     * @throws UnsupportedOperationException if the provider carries no data
     */
    public RmaMessage data(long data) {
        checks.requireData(data);
        struct.data(data);
        return this;
    }

    /**
     * Starts writing the local segments to the remote ones if there is room; fi_writemsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE}
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryWrite(long token) {
        requireWritable();
        return posting.tryPost(this, Call.WRITE, token);
    }

    /**
     * Starts writing the local segments to the remote ones, and makes progress until there is room; fi_writemsg.
     *
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE}
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void write(long token) {
        requireWritable();
        posting.post(this, Call.WRITE, token);
    }

    /**
     * Starts reading the remote segments into the local ones if there is room; fi_readmsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if Soft-iWARP would fill only the first of several local segments
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryRead(long token) {
        requireReadable();
        return posting.tryPost(this, Call.READ, token);
    }

    /**
     * Starts reading the remote segments into the local ones, and makes progress until there is room; fi_readmsg.
     *
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if Soft-iWARP would fill only the first of several local segments
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void read(long token) {
        requireReadable();
        posting.post(this, Call.READ, token);
    }

    /**
     * Starts writing the local segments to one remote segment if there is room; fi_writev. There must be no flags.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE}
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryWriteVector(long token) {
        requireWritable();
        requirePlain();
        return posting.tryPost(this, Call.WRITE_VECTOR, token);
    }

    /**
     * Starts writing the local segments to one remote segment, and makes progress until there is room; fi_writev. There must be no flags.
     *
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if shm of libfabric 1.x would never complete it: no bytes, and
     *         {@link OperationFlag#DELIVERY_COMPLETE}
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void writeVector(long token) {
        requireWritable();
        requirePlain();
        posting.post(this, Call.WRITE_VECTOR, token);
    }

    /**
     * Starts reading one remote segment into the local ones if there is room; fi_readv. There must be no flags.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if Soft-iWARP would fill only the first of several local segments
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public boolean tryReadVector(long token) {
        requireReadable();
        requirePlain();
        return posting.tryPost(this, Call.READ_VECTOR, token);
    }

    /**
     * Starts reading one remote segment into the local ones, and makes progress until there is room; fi_readv. There must be no flags.
     *
     * @param token comes back with the completion
     * @throws FabricTimeoutException if there is no room in time; nothing was posted then
     * @throws IllegalArgumentException if a segment's region lacks the right, the bytes are more than
     *         {@link Rma#maximumMessageSize} or, with {@link OperationFlag#INJECT}, than {@link Rma#injectSize}, or the flags do not go with the call
     * @throws IllegalStateException if peer or segments are missing, the local and remote bytes are not as many, something is
     *         closed, or the peer was removed
     * @throws UnsupportedOperationException if Soft-iWARP would fill only the first of several local segments
     * @throws WrongThreadException if the threading model gives the endpoint to another thread
     * @throws FabricException if the provider refuses
     */
    public void readVector(long token) {
        requireReadable();
        requirePlain();
        posting.post(this, Call.READ_VECTOR, token);
    }

    /** One that wrapped around could be as many as the bytes of the other side. */
    private static long sum(long length, long more) {
        return length > Long.MAX_VALUE - more ? Long.MAX_VALUE : length + more;
    }

    private void requireWritable() {
        checks.require(this, Access.WRITE.bit(), Access.REMOTE_WRITE.bit());
    }

    private void requireReadable() {
        checks.require(this, Access.READ.bit(), Access.REMOTE_READ.bit());
        checks.requireFillable(this);
        if ((flags & (OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit())) != 0) {
            throw new IllegalArgumentException("a read takes neither REMOTE_CQ_DATA nor INJECT");
        }
    }

    private void requirePlain() {
        if (flags != 0 || remoteCount != 1) {
            throw new IllegalArgumentException("the vectored calls take no flags and one remote segment, not "
                    + remoteCount + ": use write or read");
        }
    }
}
