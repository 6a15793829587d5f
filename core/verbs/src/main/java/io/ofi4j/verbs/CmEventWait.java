package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.verbs.internal.CmCalls;
import io.ofi4j.verbs.internal.CmEvents;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for events of the connection manager. A deadline begins at the clock's {@code start}. */
final class CmEventWait {
    private static final int SLICE_MILLIS = 100;
    private static final int VIRTUAL_YIELDS = 100;
    private static final int MAX_ERRNO = 4095;

    private CmEventWait() {}

    /** Checks a condition after each event of the identifier. Returns whether it held before the deadline. */
    static boolean until(BooleanSupplier condition, CmCalls.Id id, long start, Duration deadline) {
        for (int turn = 0; !condition.getAsBoolean(); turn++) {
            Interrupts.check("rdma_get_cm_event");
            long left = left(start, deadline);
            if (left <= 0) { return false; }
            block(id.descriptor(), turn, left);
        }
        return true;
    }

    /** The remaining nanoseconds of a deadline; 0 or less after it. */
    static long left(long start, Duration deadline) {
        return Deadlines.nanos(deadline) - (System.nanoTime() - start);
    }

    /** Blocks until the descriptor is readable, for at most these nanoseconds, or returns earlier. */
    static void block(int descriptor, int turn, long nanos) {
        if (!Thread.currentThread().isVirtual()) {
            Descriptors.poll((int) Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(nanos) + 1), descriptor);
        } else if (turn >= 0 && turn < VIRTUAL_YIELDS) { // a system call would hold its carrier
            Thread.yield();
        } else {
            LockSupport.parkNanos(Math.min(nanos, Backoff.VIRTUAL_PARK_NANOS));
        }
    }

    /**
     * Waits for an event of this type. An event of another type is an error, which it throws.
     *
     * @param next gives the next event, or null; it throws when the wait is no longer needed
     */
    static CmCalls.Event expect(Supplier<CmCalls.Event> next, CmCalls.Id id, int type, String operation, long start,
            Duration deadline) {
        CmCalls.Event[] found = new CmCalls.Event[1];
        until(() -> (found[0] = next.get()) != null, id, start, deadline);
        CmCalls.Event event = found[0];
        if (event == null || isDeadline(event)) { throw timeout(operation, deadline); }
        if (event.type() != type) { throw failure(operation, event); }
        return event;
    }

    static FabricTimeoutException timeout(String operation, Duration deadline) {
        return new FabricTimeoutException(operation, deadline,
                "Is the peer listening, and on an RDMA device's address?");
    }

    /** Whether the event reports the deadline: the kernel has the same one for a resolution, and may see it first. */
    private static boolean isDeadline(CmCalls.Event event) {
        return (event.type() == CmEvents.ADDRESS_ERROR || event.type() == CmEvents.ROUTE_ERROR)
                && event.status() == -Errno.ETIMEDOUT;
    }

    private static FabricException failure(String operation, CmCalls.Event event) {
        int status = Math.abs(event.status());
        if (event.type() == CmEvents.REJECTED) {
            return new FabricException(operation
                    + " failed: the peer rejected the connection, or does not listen (reason " + event.status() + ").",
                    operation, Errno.ECONNREFUSED);
        }
        boolean says = status > 0 && status < MAX_ERRNO;
        return new FabricException(
                operation + " failed: event " + event.type()
                        + (says ? ", " + LibC.strerror(status) + " (errno " + status + ")" : "")
                        + ". Is the peer's address that of an RDMA device, and on the same network?",
                operation, says ? status : Errno.ECONNABORTED);
    }
}
