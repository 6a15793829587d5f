package io.ofi4j;

import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.RmaMessageStruct;
import java.util.Arrays;
import java.util.Objects;

/**
 * A prepared one-sided operation: local segments, remote segments, peer, flags and completion data, which can be changed one by one
 * and posted again; {@code struct fi_msg_rma}, fi_rma(3). Made by {@link Rma#message}, for one endpoint. Offsets and lengths are in
 * bytes. Changes allocate nothing. Only the thread that made it may change and post it; others get WrongThreadException. Setters
 * return this message. Methods without {@code try} wait for room as those of {@link Rma} do.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if a region
 * belongs to another domain, a peer to another vector, or the data is too long. Posting methods throw IllegalArgumentException if a
 * region lacks the right, there are too many bytes ({@link Rma#maximumMessageSize}, or {@link Rma#injectSize} with
 * {@link OperationFlag#INJECT}), or the flags do not suit the call; IllegalStateException if the peer or segments are missing, the
 * local and remote numbers of bytes differ, the endpoint or a region is closed, or the peer was removed; WrongThreadException
 * also where the threading model gives the endpoint to another thread; FabricException if the provider reports an error.
 */
public final class RmaMessage {
    final RmaMessageStruct struct;
    final MemoryRegion[] regions;
    /** The numbers of the regions after the first, for the queue. */
    final int[] furtherRegions;
    int localCount;
    int remoteCount;
    long localLength;
    long remoteLength;
    long localRights;
    long remoteRights;
    long flags;
    Peer peer;
    private long completionData;

    /** Who made it: another thread could change it under a post. */
    private final Thread owner = Thread.currentThread();
    private final long[] rightsOfRemotes;
    private final RemoteRegion[] remotes;
    private final Rma rma;
    private final TransferChecks checks;
    private final int localLimit;
    private final int remoteLimit;

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

    RmaMessage(Rma rma, TransferChecks checks, long iovLimit, long rmaIovLimit) {
        this.rma = rma;
        this.checks = checks;
        this.localLimit = (int) Math.min(iovLimit, ContextSlab.FURTHER + 1);
        this.remoteLimit = (int) Math.min(rmaIovLimit, Integer.MAX_VALUE);
        this.struct = new RmaMessageStruct(localLimit, remoteLimit);
        this.rightsOfRemotes = new long[remoteLimit];
        this.remotes = new RemoteRegion[remoteLimit];
        this.regions = new MemoryRegion[localLimit];
        this.furtherRegions = new int[localLimit];
        clear();
    }

    /** {@return the largest number of local segments} */
    public int localLimit() { return localLimit; }

    /** {@return the largest number of remote segments} */
    public int remoteLimit() { return remoteLimit; }

    /** Removes every segment, local and remote; flags, data and peer stay. */
    public RmaMessage clear() {
        requireOwner();
        localCount = 0;
        remoteCount = 0;
        localLength = 0;
        remoteLength = 0;
        localRights = Access.ALL;
        remoteRights = Access.ALL;
        return this;
    }

    /**
     * Adds a local segment: this range of a region of the endpoint's domain.
     *
     * @throws IllegalArgumentException if there are {@link #localLimit} already
     */
    public RmaMessage local(MemoryRegion region, long offset, long length) {
        requireOwner();
        requireInside(region, offset, length);
        requireRoom(localCount, localLimit, "local");
        checks.requireDomain(region);
        put(localCount++, region, offset, length);
        localLength = sum(localLength, length);
        localRights &= region.accessBits;
        struct.localCount(localCount, localLength);
        return this;
    }

    /**
     * Replaces one local segment; the others stay.
     *
     * @param index its position, from 0, in the order of addition
     * @param region a region of the endpoint's domain
     * @param offset the start of the segment in the region
     * @param length the number of bytes
     */
    public RmaMessage replaceLocal(int index, MemoryRegion region, long offset, long length) {
        requireOwner();
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

    private void requireRoom(int count, int limit, String where) {
        if (count == limit) {
            throw new IllegalArgumentException("provider " + checks.provider + " takes at most " + limit + " " + where
                    + " segments per operation: post several operations");
        }
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
        if (index > 0) { furtherRegions[index - 1] = region.number; }
    }

    /**
     * Adds a remote segment: this range of a peer's region.
     *
     * @throws IllegalArgumentException if there are {@link #remoteLimit} already
     */
    public RmaMessage remote(RemoteRegion region, long offset, long length) {
        requireOwner();
        requireInside(region, offset, length);
        requireRoom(remoteCount, remoteLimit, "remote");
        put(remoteCount++, region, offset, length);
        remoteLength = sum(remoteLength, length);
        remoteRights &= region.accessBits();
        struct.remoteCount(remoteCount);
        return this;
    }

    /** Replaces one remote segment, as {@link #replaceLocal} does a local one. */
    public RmaMessage replaceRemote(int index, RemoteRegion region, long offset, long length) {
        requireOwner();
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
        remotes[index] = region;
    }

    /** Sets the peer whose memory it is for, one of the endpoint's vector. */
    public RmaMessage peer(Peer whose) {
        requireOwner();
        checks.requireVector(whose);
        peer = whose;
        struct.peer(whose.fabricAddress);
        return this;
    }

    /**
     * Sets the flags, instead of all that were set before. If it throws, nothing is changed.
     *
     * @throws UnsupportedOperationException if the endpoint lacks the capability that a flag needs, or the provider carries no data
     */
    public RmaMessage flags(OperationFlag... how) {
        requireOwner();
        long wanted = 0;
        for (OperationFlag flag : how) {
            checks.requireOffered(flag);
            wanted |= flag.bit();
        }
        flags = wanted;
        return this;
    }

    /**
     * Sets the data of the peer's completion, for {@link OperationFlag#REMOTE_CQ_DATA}.
     *
     * @param data up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider carries no data
     */
    public RmaMessage data(long data) {
        requireOwner();
        checks.requireData(data);
        struct.data(data);
        completionData = data;
        return this;
    }

    /**
     * Starts writing the local segments to the remote ones if there is room; fi_writemsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if it has no bytes and {@link OperationFlag#DELIVERY_COMPLETE}, which shm of libfabric
     *         1.x never completes
     */
    public boolean tryWrite(long token) { return tryPost(Call.WRITE, token); }

    /** As {@link #tryWrite}, but waits for room. */
    public void write(long token) { post(Call.WRITE, token); }

    /**
     * Starts reading the remote segments into the local ones if there is room; fi_readmsg.
     *
     * @param token comes back with the completion
     * @return whether it was accepted
     * @throws UnsupportedOperationException if Soft-iWARP would fill only the first of several local segments
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

    /** Saturates: a sum that wrapped around could equal the number of bytes of the other side. */
    private static long sum(long length, long more) {
        return length > Long.MAX_VALUE - more ? Long.MAX_VALUE : length + more;
    }

    private boolean tryPost(Call call, long token) {
        requireSuits(call);
        return rma.tryPost(this, call, token);
    }

    private void post(Call call, long token) {
        requireSuits(call);
        rma.post(this, call, token);
    }

    private void requireOwner() { if (owner != Thread.currentThread()) { throw notOwner(); } }

    private WrongThreadException notOwner() {
        return new WrongThreadException("this message was made by thread '" + owner.getName()
                + "', which alone may change and post it: let thread '" + Thread.currentThread().getName()
                + "' make one of its own with Rma.message()");
    }

    Endpoint endpoint() { return rma.endpoint; }

    MemoryRegion[] regionsInUse() { return Arrays.copyOf(regions, localCount); }

    /** What a post checks inside the guard. */
    void requireOpen() { checks.requireOpen(regions, localCount, peer); }

    void requireSuits(Call call) {
        requireOwner();
        if (call.isRead) {
            requireReadable();
        } else {
            checks.require(this, Access.WRITE.bit(), Access.REMOTE_WRITE.bit());
        }
        if (!call.hasFlags && (flags != 0 || remoteCount != 1)) {
            throw new IllegalArgumentException("the vectored calls take no flags and one remote segment, not "
                    + remoteCount + ": use write or read");
        }
    }

    private void requireReadable() {
        checks.require(this, Access.READ.bit(), Access.REMOTE_READ.bit());
        checks.requireFillable(this);
        if ((flags & (OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit())) != 0) {
            throw new IllegalArgumentException("a read takes neither REMOTE_CQ_DATA nor INJECT");
        }
    }
}
