package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.QueuePairCalls;
import java.util.Objects;

/**
 * The sizes of a queue pair, and the parameters of its connection; {@code struct ibv_qp_init_attr},
 * {@code struct ibv_qp_attr}, ibv_create_qp(3), ibv_modify_qp(3). A value: {@link #of} has the defaults, and other
 * methods return a changed copy.
 *
 * @param sendQueue the queue that reports operations
 * @param receiveQueue the queue that reports receives; it may be the same
 * @param sends the largest number of operations in flight, without receives
 * @param receives the largest number of receives in flight
 * @param inline the largest number of bytes with {@link WorkFlags#INLINE}
 * @param reads the largest number of reads and atomic operations in flight in each direction; the device may have fewer
 * @param port the device's port; used by connections out of band only
 * @param gidIndex the index of the address in the port's table; -1 chooses one of RoCE v2 with an IPv4 address if there
 *         is one; used by connections out of band only
 * @param timeout the exponent of the time to wait for an answer, 4.096 microseconds times two to this power; 0 waits
 *         for ever; used by connections out of band only
 * @param retries the number of times that a lost packet is sent again, at most 7; some software devices take 7 for
 *         endless
 * @param receiverRetries the number of times that a peer without a receive is asked again; 7 is endless
 * @param blockLoopback whether its own multicasts do not come back
 * @param xrc whether it has the extended reliable connected transport; then it is connected out of band to an
 *         {@link XrcTarget}
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

    /**
     * Checks that the numbers fit into the structs of verbs. The limits of the device are checked when the queue pair
     * is opened.
     */
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
     * {@return attributes with 64 operations and 64 receives in flight, 64 bytes inline, 4 reads, a timeout of 67
     * milliseconds, 6 retries, and this queue for both}
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

    /** {@return a copy with this number of reads and atomic operations in flight} */
    public QueuePairAttributes reads(int count) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, count, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with this port of the device, and the address with this index} */
    public QueuePairAttributes address(int itsPort, int itsGidIndex) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, itsPort, itsGidIndex,
                timeout, retries, receiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy with this timeout and these numbers of retries} */
    public QueuePairAttributes retries(int itsTimeout, int itsRetries, int itsReceiverRetries) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex,
                itsTimeout, itsRetries, itsReceiverRetries, blockLoopback, xrc);
    }

    /** {@return a copy that blocks its own multicasts, or not} */
    public QueuePairAttributes blockLoopback(boolean block) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex, timeout,
                retries, receiverRetries, block, xrc);
    }

    /** {@return a copy with the extended reliable connected transport, or with the reliable connected one} */
    public QueuePairAttributes xrc(boolean extended) {
        return new QueuePairAttributes(sendQueue, receiveQueue, sends, receives, inline, reads, port, gidIndex, timeout,
                retries, receiverRetries, blockLoopback, extended);
    }
}
