package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.verbs.internal.CmCalls;
import io.ofi4j.verbs.internal.CmEvents;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for events of the connection manager. */
final class CmEventWait {
    private static final int SLICE_MILLIS = 100;
    private static final int MAX_ERRNO = 4095;

    private CmEventWait() {}

    /** {@return the next event; null after the deadline, or when the wait is no longer needed} */
    static CmCalls.Event next(CmCalls.Id id, Duration deadline, BooleanSupplier isClosed) {
        CmCalls.Event[] event = new CmCalls.Event[1];
        until(() -> isClosed.getAsBoolean() || (event[0] = CmCalls.next(id)) != null, id, deadline);
        return event[0];
    }

    /** Checks a condition after each event of the identifier. Returns whether it held before the deadline. */
    static boolean until(BooleanSupplier condition, CmCalls.Id id, Duration deadline) {
        long limit = Deadlines.nanos(deadline);
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            Interrupts.check("rdma_get_cm_event");
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) { return false; }
            Descriptors.poll((int) Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(left) + 1), id.descriptor());
        }
        return true;
    }

    /** Waits for an event of this type. An event of another type is an error, which it throws. */
    static CmCalls.Event expect(CmCalls.Id id, int type, String operation, Duration deadline,
            BooleanSupplier isClosed) {
        CmCalls.Event event = next(id, deadline, isClosed);
        if (event == null && isClosed.getAsBoolean()) {
            throw new IllegalStateException("another thread closed the connection or listener during " + operation);
        }
        if (event == null || isDeadline(event)) {
            throw new FabricTimeoutException(operation, deadline,
                    "Is the peer listening, and on an RDMA device's address?");
        }
        if (event.type() != type) { throw failure(operation, event); }
        return event;
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
