package io.ofi4j;

import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricOps;
import io.ofi4j.internal.Guard;
import io.ofi4j.internal.Handle;
import java.time.Duration;
import java.util.function.IntSupplier;

/** Waits for completions of one queue. */
final class CompletionWait {
    private final CompletionQueue queue;
    private final CompletionReader reader;
    private final Guard guard;
    private final Handle handle;
    private final BlockingRead blocking;
    private final int threshold;
    private final boolean resetsByReading;

    CompletionWait(CompletionQueue queue, CompletionReader reader, BlockingRead blocking, int threshold) {
        this.queue = queue;
        this.reader = reader;
        this.guard = queue.guard;
        this.handle = queue.handle();
        this.blocking = blocking;
        this.threshold = threshold;
        this.resetsByReading = handle.provider().equals("net");
    }

    /** Polls until it gives something, or time is over; what the last poll gave. */
    int until(IntSupplier poll, Duration deadline) {
        if (threshold > 1) {
            blocking.until(this::isThresholdReached, this::mayBlock, deadline);
            return poll.getAsInt();
        }
        int[] taken = new int[1];
        blocking.until(() -> (taken[0] = poll.getAsInt()) > 0, this::mayBlock, deadline);
        return taken[0];
    }

    void signal() {
        reader.requireOpen();
        blocking.signal();
    }

    /** Something is there: whoever blocks looks again. */
    void wake() {
        blocking.wake();
    }

    int descriptor() {
        guard.enter();
        try {
            return requireDescriptor().number;
        } finally {
            guard.exit();
        }
    }

    boolean tryWait() {
        guard.enter();
        try {
            WaitDescriptor descriptor = requireDescriptor();
            return !blocking.takeSignal() && isQuiet(descriptor);
        } finally {
            guard.exit();
        }
    }

    private WaitDescriptor requireDescriptor() {
        reader.requireOpen();
        return blocking.requireDescriptor(queue);
    }

    private boolean mayBlock() {
        guard.enter();
        try {
            boolean quiet = isQuiet(requireDescriptor());
            if (quiet) {
                blocking.enter();
            }
            return quiet;
        } finally {
            guard.exit();
        }
    }

    /** Whether nothing is there, so that what comes makes the descriptor readable. */
    private boolean isQuiet(WaitDescriptor descriptor) {
        if (reader.kept() > 0) {
            return false;
        }
        descriptor.rest();
        if (!reader.isReadable()) {
            return true;
        }
        if (descriptor.isDeaf()) {
            return !reader.readAside();
        }
        int status = FabricOps.fi_trywait(queue.domain().fabric().handle(), handle);
        if (status == -Errno.EAGAIN) {
            return false;
        }
        FabricException.check(status, "fi_trywait", handle.provider());
        if (reader.readAside()) { // not every provider looks
            return false;
        }
        // net does not reset its descriptor in fi_trywait, only in fi_cq_sread
        return !resetsByReading || !descriptor.isProviderReady() || !reader.awaitAside();
    }

    /**
     * An endpoint is about to be closed, inside the guard. ofi_rxm leaves what it waited for in the wait object of its queue,
     * and fi_trywait looks into it.
     */
    void closing() {
        if (handle.provider().contains("ofi_rxm")) {
            blocking.deafen();
        }
    }

    private boolean isThresholdReached() {
        guard.enter();
        try {
            reader.requireOpen();
            while (reader.kept() < threshold && reader.readAside()) {
                Thread.onSpinWait();
            }
            return reader.kept() >= threshold;
        } finally {
            guard.exit();
        }
    }

    /** Waits for who is inside to leave; the queue is closed to others. */
    void awaitNobodyInside() {
        blocking.awaitNobodyInside();
    }

    void close() {
        blocking.close();
    }
}
