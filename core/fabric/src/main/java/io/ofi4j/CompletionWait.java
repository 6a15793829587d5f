package io.ofi4j;

import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.engine.WaitDescriptor;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.function.IntSupplier;

/** Waits for completions of one queue. */
final class CompletionWait {
    private final CompletionReader.Parts parts;
    private final ThreadGuard guard;
    private final Handle fabric;
    private final CompletionReader reader;
    private final BlockingWait blocking;
    private final int threshold;
    private final boolean resetsByReading;
    private final boolean detachesOnClose;

    CompletionWait(CompletionReader.Parts parts, Handle fabric, Quirks quirks, CompletionReader reader,
            BlockingWait blocking, int threshold) {
        this.parts = parts;
        this.guard = parts.guard();
        this.fabric = fabric;
        this.reader = reader;
        this.blocking = blocking;
        this.threshold = threshold;
        this.resetsByReading = quirks.has(Fact.DESCRIPTOR_RESET_BY_READ);
        this.detachesOnClose = quirks.has(Fact.STALE_WAIT_OBJECTS);
    }

    /** Polls until the result is above 0 or the deadline passes; the last result. */
    int until(IntSupplier poll, Duration deadline) {
        if (threshold > 1) {
            blocking.until(this::isThresholdReached, this::mayBlock, deadline);
            return poll.getAsInt();
        }
        int[] taken = new int[1];
        blocking.until(() -> (taken[0] = poll.getAsInt()) > 0, this::mayBlock, deadline);
        return taken[0];
    }

    int descriptor() {
        try (var _ = guard.enter()) {
            return requireDescriptor().number;
        }
    }

    boolean tryWait() {
        try (var _ = guard.enter()) {
            WaitDescriptor descriptor = requireDescriptor();
            return !blocking.takeSignal() && isQuiet(descriptor);
        }
    }

    private WaitDescriptor requireDescriptor() {
        reader.requireOpen();
        return blocking.requireDescriptor(parts.queue());
    }

    private boolean mayBlock() {
        try (var _ = guard.enter()) {
            boolean quiet = isQuiet(requireDescriptor());
            if (quiet) { blocking.beginBlocking(); }
            return quiet;
        }
    }

    /** Whether the queue is empty, so that the next completion makes the descriptor readable. */
    private boolean isQuiet(WaitDescriptor descriptor) {
        if (reader.buffered() > 0) { return false; }
        descriptor.reset();
        if (!reader.isReadable()) { return true; }
        if (descriptor.isDetached()) { return !reader.fetchIntoBuffer(); }
        int status = FabricOps.fi_trywait(fabric, parts.handle());
        if (status == -Errno.EAGAIN) { return false; }
        Status.check(status, "fi_trywait", parts.handle().provider());
        if (reader.fetchIntoBuffer()) { // fi_trywait of some providers does not read their queue
            return false;
        }
        return !resetsByReading || !descriptor.isProviderReady() || !reader.awaitIntoBuffer();
    }

    /**
     * Records that an endpoint is about to close; inside the guard. Some providers leave the endpoint in the queue's
     * wait object, where fi_trywait would use it.
     */
    void closing() { if (detachesOnClose) { blocking.detachProvider(); } }

    private boolean isThresholdReached() {
        try (var _ = guard.enter()) {
            reader.requireOpen();
            while (reader.buffered() < threshold && reader.fetchIntoBuffer()) {
                Thread.onSpinWait();
            }
            return reader.buffered() >= threshold;
        }
    }
}
