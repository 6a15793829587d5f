package io.ofi4j;

import io.ofi4j.internal.ffi.EqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The events of an endpoint's joins of multicast groups. Each join has a number, which is the context of its event.
 * Used inside the guard of transmits.
 */
final class JoinEvents {
    private static final int UNKNOWN = -1;

    private final EqOps queue;
    private final String provider;
    /** The error numbers of the joins that someone waits for; 0 of those that have completed. */
    private final Map<Long, Integer> outcomes = new HashMap<>();
    private long last;

    JoinEvents(Handle queue) {
        this.queue = new EqOps(queue);
        this.provider = queue.provider();
    }

    /** {@return the number of a new join} */
    long begin() {
        outcomes.put(++last, UNKNOWN);
        return last;
    }

    /** Drops a join that nobody waits for any more. */
    void forget(long join) { outcomes.remove(join); }

    /** {@return the error number of a join, 0 if it has completed; empty while there is no event of it} */
    OptionalInt outcome(long join) {
        while (outcomes.get(join) == UNKNOWN) {
            if (!readNext()) { return OptionalInt.empty(); }
        }
        return OptionalInt.of(outcomes.remove(join));
    }

    /** Reads one event. Returns whether there was one. */
    private boolean readNext() {
        long status = queue.fi_eq_read();
        if (status == -Errno.EAGAIN || status == 0) { return false; }
        if (status == -Errno.EAVAIL) {
            EqOps.ErrorEntry error = queue.fi_eq_readerr();
            if (error != null) { note(error.context(), Math.max(error.errno(), 1)); }
            return error != null;
        }
        Status.check(status, "fi_eq_read", provider);
        if (queue.code() == FabricConstants.FI_JOIN_COMPLETE) { note(queue.context(), queue.errno(status)); }
        return true;
    }

    private void note(long join, int errno) { outcomes.computeIfPresent(join, (its, before) -> errno); }
}
