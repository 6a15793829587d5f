package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.verbs.internal.WorkRequest;
import java.lang.foreign.MemorySegment;

/**
 * One queue of a queue pair: its operations in flight, and the structs that are posted to it. Used inside the guard of
 * its completion queue.
 */
final class WorkQueue {
    /** A flag beside a kind: success is not reported to the program, though the device reports it, to make room. */
    static final int SILENT = 1 << 6;
    private static final int POSITION_BITS = 33;

    final QueuePair queuePair;
    final VerbsCompletionQueue completionQueue;
    final WorkRing ring;
    final WorkRequest request;

    private long id;
    private int unreported;

    WorkQueue(QueuePair queuePair, VerbsCompletionQueue completionQueue, int capacity, WorkRequest request) {
        this.queuePair = queuePair;
        this.completionQueue = completionQueue;
        this.ring = new WorkRing(capacity);
        this.request = request;
    }

    /** Sets the number that identifies completions of this side. */
    void assignNumber(int number) {
        id = (long) number << POSITION_BITS;
    }

    static int numberOf(long id) { return (int) (id >>> POSITION_BITS); }

    /** {@return the number that identifies the next operation} */
    long nextId() {
        return id | Integer.toUnsignedLong(ring.next());
    }

    /**
     * Posts the operation in the struct. The native queue has as much room as the ring, but unreported operations leave
     * it only together with a reported one. Each half of the ring therefore has a reported one.
     */
    boolean send(int opcode, int flags, int segments, int word, WorkKind kind, Object subject, long token) {
        if (ring.isFull()) { return false; }
        boolean reported = (flags & WorkFlags.SIGNALED) != 0;
        boolean forced = !reported && unreported + 1 >= Math.max(1, ring.capacity() / 2);
        long its = nextId();
        ring.add(token, kind.ordinal() | (forced ? SILENT : 0), subject);
        int status = request.send(its, opcode, forced ? flags | WorkFlags.SIGNALED : flags, segments, word);
        return posted(status, "ibv_post_send", reported || forced);
    }

    boolean bind(int flags, MemorySegment window, WorkRequest.Binding binding, WorkKind kind, Object subject,
            long token) {
        if (ring.isFull()) { return false; }
        long its = nextId();
        ring.add(token, kind.ordinal(), subject);
        return posted(request.bind(its, flags, window, binding), "ibv_bind_mw", true);
    }

    boolean receive(int segments, Object subject, long token) {
        if (ring.isFull()) { return false; }
        long its = nextId();
        ring.add(token, WorkKind.RECEIVE.ordinal(), subject);
        return posted(request.receive(its, segments), "ibv_post_recv", true);
    }

    /**
     * Takes back an operation that was refused. It is in the ring before the call: a StackOverflowError behind the call
     * loses no operation that the device has accepted.
     */
    private boolean posted(int status, String call, boolean reported) {
        if (status != 0) {
            ring.removeLast();
            if (Math.abs(status) == Errno.ENOMEM) { return false; } // older drivers negate it
            throw refused(status == -1 ? Errno.EIO : Math.abs(status), call); // -1 says nothing
        }
        unreported = reported ? 0 : unreported + 1;
        return true;
    }

    /**
     * Ends the queue pair: a refused operation may be left in the native queue (Soft-iWARP does that), and then no
     * later one is carried out.
     */
    private FabricException refused(int errno, String call) {
        FabricException refused = new FabricException(call + " failed on " + queuePair + ": " + LibC.strerror(errno)
                + " (errno " + errno + "). Does the device offer the operation, and is the length within its limits?"
                + " The queue pair is in the error state now: close it.", call, errno);
        try {
            queuePair.failOpen();
        } catch (RuntimeException e) {
            refused.addSuppressed(e);
        }
        return refused;
    }
}
