package io.ofi4j.info;

import io.ofi4j.CompletionQueue;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a completion queue is opened; {@code struct fi_cq_attr}, fi_cq(3). Immutable: each method gives a changed copy.
 *
 * <pre>{@code
 * CompletionQueueAttributes.defaults().size(256).waitObject(WaitObject.FD)
 * }</pre>
 */
public final class CompletionQueueAttributes implements Cloneable {
    private static final int MAXIMUM_SIZE = 1 << 20;

    private int size;
    private CompletionFormat format = CompletionFormat.DATA;
    private WaitObject waitObject = WaitObject.NONE;
    private int signalingVector = -1;
    private int waitThreshold = 1;

    private CompletionQueueAttributes() {
    }

    /** {@return the size that the provider prefers, format DATA, and no wait object} */
    public static CompletionQueueAttributes defaults() {
        return new CompletionQueueAttributes();
    }

    /**
     * {@return a copy of that size}
     *
     * @param operations how many operations can be in flight on the queue, from 1 to 1,048,576
     * @throws IllegalArgumentException if it is out of range
     */
    public CompletionQueueAttributes size(int operations) {
        if (operations < 1 || operations > MAXIMUM_SIZE) {
            throw new IllegalArgumentException(
                    "a completion queue has 1 to " + MAXIMUM_SIZE + " entries, not " + operations);
        }
        CompletionQueueAttributes copy = copy();
        copy.size = operations;
        return copy;
    }

    /**
     * {@return a copy with that format}
     *
     * @param wanted what an entry has
     */
    public CompletionQueueAttributes format(CompletionFormat wanted) {
        CompletionQueueAttributes copy = copy();
        copy.format = Objects.requireNonNull(wanted);
        return copy;
    }

    /**
     * {@return a copy with that wait object}
     *
     * @param wanted what threads block on
     * @throws UnsupportedOperationException if this library does not offer it
     */
    public CompletionQueueAttributes waitObject(WaitObject wanted) {
        CompletionQueueAttributes copy = copy();
        copy.waitObject = wanted.requireOffered();
        return copy;
    }

    /**
     * {@return a copy that wants its interrupts on a certain processor; FI_AFFINITY. Providers that cannot ignore it}
     *
     * @param vector the processor's number, 0 or more
     * @throws IllegalArgumentException if it is below 0
     */
    public CompletionQueueAttributes signalingVector(int vector) {
        if (vector < 0) {
            throw new IllegalArgumentException("a signaling vector is 0 or more, not " + vector);
        }
        CompletionQueueAttributes copy = copy();
        copy.signalingVector = vector;
        return copy;
    }

    /**
     * {@return a copy whose blocking read waits for that many completions} What FI_CQ_COND_THRESHOLD does, but for every
     * provider: most ignore that, and with sockets nothing is read without blocking any more.
     *
     * @param completions how many, at least 1
     * @throws IllegalArgumentException if it is below 1
     */
    public CompletionQueueAttributes waitThreshold(int completions) {
        if (completions < 1) {
            throw new IllegalArgumentException("a wait threshold is at least 1, not " + completions);
        }
        CompletionQueueAttributes copy = copy();
        copy.waitThreshold = completions;
        return copy;
    }

    /** {@return how many operations can be in flight; empty where the provider's preference counts} */
    public OptionalInt size() {
        return size == 0 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    /** {@return what an entry has} */
    public CompletionFormat format() {
        return format;
    }

    /** {@return what threads block on} */
    public WaitObject waitObject() {
        return waitObject;
    }

    /** {@return the processor for interrupts, if one was named} */
    public OptionalInt signalingVector() {
        return signalingVector < 0 ? OptionalInt.empty() : OptionalInt.of(signalingVector);
    }

    /** {@return how many completions a blocking read waits for} */
    public int waitThreshold() {
        return waitThreshold;
    }

    private CompletionQueueAttributes copy() {
        try {
            return (CompletionQueueAttributes) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
