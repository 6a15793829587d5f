package io.ofi4j.info;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * How a completion queue is opened; {@code struct fi_cq_attr}, fi_cq(3). Immutable: each method returns a changed copy,
 * and throws IllegalArgumentException if a number is out of range.
 *
 * <pre>{@code
 * CompletionQueueAttributes.defaults().size(256).waitObject(WaitObject.FD)
 * }</pre>
 */
public final class CompletionQueueAttributes extends Changeable<CompletionQueueAttributes> {
    private static final int MAXIMUM_SIZE = 1 << 20;

    private int size;
    private CompletionFormat format = CompletionFormat.DATA;
    private WaitObject waitObject = WaitObject.NONE;
    private int signalingVector = -1;
    private int waitThreshold = 1;

    private CompletionQueueAttributes() {}

    /** {@return the provider's preferred size, format DATA, and no wait object} */
    public static CompletionQueueAttributes defaults() {
        return new CompletionQueueAttributes();
    }

    /** {@return a copy for this many operations in flight on the queue, 1 to 1,048,576} */
    public CompletionQueueAttributes size(int operations) {
        if (operations < 1 || operations > MAXIMUM_SIZE) {
            throw new IllegalArgumentException(
                    "a completion queue has 1 to " + MAXIMUM_SIZE + " entries, not " + operations);
        }
        return with(copy -> copy.size = operations);
    }

    /** {@return a copy with this format of entries} */
    public CompletionQueueAttributes format(CompletionFormat wanted) {
        return with(copy -> copy.format = Objects.requireNonNull(wanted));
    }

    /**
     * {@return a copy with this wait object}
     *
     * @throws UnsupportedOperationException if it is {@code SET}, {@code MUTEX_COND} or {@code POLLFD}
     */
    public CompletionQueueAttributes waitObject(WaitObject wanted) {
        return with(copy -> copy.waitObject = wanted.requireOffered());
    }

    /**
     * {@return a copy that requests the queue's interrupts on this processor, 0 or more; FI_AFFINITY, fi_cq(3)}
     * Providers without this feature ignore it.
     */
    public CompletionQueueAttributes signalingVector(int vector) {
        if (vector < 0) { throw new IllegalArgumentException("a signaling vector is 0 or more, not " + vector); }
        return with(copy -> copy.signalingVector = vector);
    }

    /**
     * {@return a copy whose blocking read waits for this many completions, at least 1} It works with every provider. It
     * does not use FI_CQ_COND_THRESHOLD, which most providers ignore.
     */
    public CompletionQueueAttributes waitThreshold(int completions) {
        if (completions < 1) {
            throw new IllegalArgumentException("a wait threshold is at least 1, not " + completions);
        }
        return with(copy -> copy.waitThreshold = completions);
    }

    /** {@return the number of operations in flight; empty for the provider's preference} */
    public OptionalInt size() {
        return size == 0 ? OptionalInt.empty() : OptionalInt.of(size);
    }

    /** {@return the format of entries} */
    public CompletionFormat format() { return format; }

    /** {@return the object that threads block on} */
    public WaitObject waitObject() { return waitObject; }

    /** {@return the processor for interrupts; empty if none was named} */
    public OptionalInt signalingVector() {
        return signalingVector < 0 ? OptionalInt.empty() : OptionalInt.of(signalingVector);
    }

    /** {@return the number of completions that a blocking read waits for} */
    public int waitThreshold() {
        return waitThreshold;
    }
}
