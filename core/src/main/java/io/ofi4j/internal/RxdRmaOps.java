package io.ofi4j.internal;

import java.util.function.IntSupplier;

/**
 * {@code struct fi_ops_rma} of an endpoint of ofi_rxd, which is to post a write of several packets only while nothing waits to be
 * started. The provider starts one read whenever the peer answers, and leaves what was posted behind it waiting, though there
 * is room; but what is posted then starts at once, and reserves numbers for all its packets. When one that waited starts between
 * them, its packet has a number behind theirs: the peer drops it, and what it acknowledges is not looked for behind it. The
 * operations of both never end.
 */
public final class RxdRmaOps extends RmaOps {
    private final long packet;
    private final IntSupplier inFlight;
    /** Whether a read was posted since this endpoint last had nothing in flight. Used inside the queue's guard. */
    private boolean hasRead;

    /**
     * @param packet of how many bytes a write certainly takes one packet
     * @param inFlight how many operations the endpoint has in flight, with the one that is being posted
     */
    public RxdRmaOps(Handle endpoint, long packet, IntSupplier inFlight) {
        super(endpoint);
        this.packet = packet;
        this.inFlight = inFlight;
    }

    private boolean mustWait(long length) {
        if (length <= packet || !hasRead) {
            return false;
        }
        hasRead = inFlight.getAsInt() > 1;
        return hasRead;
    }

    private long noteRead(long status) {
        hasRead |= status == 0;
        return status;
    }

    @Override
    public long fi_write(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return mustWait(length)
                ? -Errno.EAGAIN
                : super.fi_write(buffer, length, descriptor, peer, address, key, context);
    }

    @Override
    public long fi_read(long buffer, long length, long descriptor, long peer, long address, long key, long context) {
        return noteRead(super.fi_read(buffer, length, descriptor, peer, address, key, context));
    }

    @Override
    public long fi_writedata(long buffer, long length, long descriptor, long data, long peer, long address, long key,
            long context) {
        return mustWait(length)
                ? -Errno.EAGAIN
                : super.fi_writedata(buffer, length, descriptor, data, peer, address, key, context);
    }

    @Override
    public long fi_writev(RmaMessageStruct message, long context) {
        return mustWait(message.length()) ? -Errno.EAGAIN : super.fi_writev(message, context);
    }

    @Override
    public long fi_readv(RmaMessageStruct message, long context) {
        return noteRead(super.fi_readv(message, context));
    }

    @Override
    public long fi_writemsg(RmaMessageStruct message, long flags) {
        return mustWait(message.length()) ? -Errno.EAGAIN : super.fi_writemsg(message, flags);
    }

    @Override
    public long fi_readmsg(RmaMessageStruct message, long flags) {
        return noteRead(super.fi_readmsg(message, flags));
    }
}
