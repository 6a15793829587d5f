package io.ofi4j;

import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.os.Blocker;
import java.util.concurrent.locks.LockSupport;

/** {@link Waiting#blocking}: spins, and then blocks on the wait descriptors of these objects. */
record BlockingWaiting(Waitable[] objects) implements Waiting {
    /** How long it blocks at a time: the condition may depend on more than these objects. */
    private static final long SLICE_NANOS = 10_000_000;
    /** How long a block lasts that nothing ends: poll(2) does not tell that a descriptor was closed. */
    private static final long CLOSE_CHECK_NANOS = 100_000_000;

    @Override
    public void pause(int turn) { pause(turn, SLICE_NANOS); }

    void pause(int turn, long longestNanos) {
        if (turn < Backoff.SPINS) {
            Thread.onSpinWait();
        } else {
            block(Math.min(longestNanos, SLICE_NANOS), objects);
        }
    }

    /** As {@link Waiting#block}. */
    static boolean block(long nanos, Waitable[] objects) {
        long start = System.nanoTime();
        Blocker blocker = Blocker.take();
        try {
            for (Waitable object : objects) {
                blocker.add(object.waitDescriptor());
            }
            while (isQuiet(objects)) {
                long left = nanos - (System.nanoTime() - start);
                if (left <= 0) { return false; }
                Interrupts.check("poll");
                if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
                    LockSupport.parkNanos(Math.min(left, Backoff.VIRTUAL_PARK_NANOS));
                } else if (blocker.block(Math.min(left, CLOSE_CHECK_NANOS))) { return true; }
            }
            return true;
        } finally {
            blocker.give();
        }
    }

    private static boolean isQuiet(Waitable[] objects) {
        for (Waitable object : objects) {
            if (!object.tryWait()) { return false; }
        }
        return true;
    }
}
