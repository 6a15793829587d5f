package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.QueuePairCalls;
import java.util.Objects;

/**
 * What a queue pair is made of, and how its connection is kept; {@code struct ibv_qp_init_attr},
 * {@code struct ibv_qp_attr}. A value: {@link #of} has defaults, the methods named as its components give a copy with
 * another number.
 *
 * @param sendQueue reports what is posted here
 * @param receiveQueue reports receives; it may be the same
 * @param sends operations in flight, receives aside, at most
 * @param receives receives in flight at most
 * @param inline the bytes of {@link WorkFlags#INLINE} at most
 * @param reads reads and atomic operations under way at a time in each direction; the device may have fewer
 * @param port the device's port, by hand only
 * @param gidIndex the place of the address in the port's table, by hand only; -1 takes one of RoCE v2 with an IPv4
 *         address if there is one
 * @param timeout an answer takes at most 4.096 microseconds times two to this power; 0 waits for ever, by hand only
 * @param retries how often a lost packet is repeated, at most 7, which is for ever on Soft-RoCE
 * @param receiverRetries how often a peer without a receive is asked again; 7 is for ever
 * @param blockLoopback whether multicasts that it sends do not come back
 * @param xrc whether it is of the extended reliable connected transport: connected by hand to an {@link XrcTarget}
 */
public record QueuePairAttributes(VerbsCompletionQueue sendQueue, VerbsCompletionQueue receiveQueue, int sends,
        int receives, int inline, int reads, int port, int gidIndex, int timeout, int retries, int receiverRetries,
        boolean blockLoopback, boolean xrc) {
    private static final int DEFAULT_SIZE = 64;
    private static final int DEFAULT_READS = 4;
    private static final int DEFAULT_TIMEOUT = 14;
    private static final int DEFAULT_RETRIES = 6;
    private static final int THREE_BITS = 7;
    private static final int FIVE_BITS = 31;
    private static final int EIGHT_BITS = 255;
    private static final int MAX_INLINE = 1 << 16;
    private static final int MAX_WORK_REQUESTS = 1 << 20;

    /** Checks that the numbers are in what verbs has room for; the device's own limits come later. */
    public QueuePairAttributes {
        Objects.requireNonNull(sendQueue, "sendQueue");
        Objects.requireNonNull(receiveQueue, "receiveQueue");
        requireRange("sends", sends, 1, MAX_WORK_REQUESTS);
        requireRange("receives", receives, 1, MAX_WORK_REQUESTS);
        requireRange("inline", inline, 0, MAX_INLINE);
        requireRange("reads", reads, 0, EIGHT_BITS);
        requireRange("port", port, 1, EIGHT_BITS);
        requireRange("gidIndex", gidIndex, -1, EIGHT_BITS);
        requireRange("timeout", timeout, 0, FIVE_BITS);
        requireRange("retries", retries, 0, THREE_BITS);
        requireRange("receiverRetries", receiverRetries, 0, THREE_BITS);
    }

    QueuePairCalls.Sizes nativeSizes() {
        return new QueuePairCalls.Sizes(sendQueue.pointer, receiveQueue.pointer, sends, receives, inline);
    }

    private static void requireRange(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " is " + min + " to " + max + ", not " + value);
        }
    }

    /**
     * {@return 64 operations and receives in flight, 64 bytes inline, 4 reads, 67 milliseconds, 6 retries; one queue
     * for both}
     */
    public static QueuePairAttributes of(VerbsCompletionQueue queue) {
        return new QueuePairAttributes(queue, queue, DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_READS, 1, -1,
                DEFAULT_TIMEOUT, DEFAULT_RETRIES, THREE_BITS, false, false);
    }

    /** {@return a copy with another queue for receives} */
    public QueuePairAttributes receiveQueue(VerbsCompletionQueue queue) {
        return new QueuePairAttributes(sendQueue, queue, sends, receives, inline, reads, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with these numbers of operations in flight} */
    public QueuePairAttributes sizes(int ofSends, int ofReceives) {
        return new QueuePairAttributes(sendQueue, receiveQueue, ofSends, ofReceives, inline, reads, port, gidIndex,
                timeout, retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with this many bytes inline} */
    public QueuePairAttributes inline(int bytes) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, bytes, reads, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with another number of reads under way} */
    public QueuePairAttributes reads(int count) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, count, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with another port and address of the device} */
    public QueuePairAttributes address(int itsPort, int itsGidIndex) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, itsPort, itsGidIndex,
                timeout, retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy that gives up otherwise} */
    public QueuePairAttributes retries(int itsTimeout, int itsRetries, int itsReceiverRetries) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex,
                itsTimeout, itsRetries, itsReceiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy whose multicasts do not come back, or do} */
    public QueuePairAttributes blockLoopback(boolean block) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex, timeout,
                retries, receiverRetries, block, xrc);
    }

    /** {@return a copy of the extended reliable connected transport, or of the reliable connected one} */
    public QueuePairAttributes xrc(boolean extended) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, extended);
    }
}
