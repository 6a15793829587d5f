package io.ofi4j.internal.engine;

import io.ofi4j.Waitable;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import io.ofi4j.internal.os.Descriptors;

/** Blocks on the wait descriptors of several objects, as the event loop of an application would. */
public final class DescriptorWait {
    private static final int SLICE_MILLIS = 100;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long VIRTUAL_PARK_NANOS = 200_000;

    private final Waitable[] objects;
    private final int[] descriptors;

    public DescriptorWait(Waitable... objects) {
        this.objects = objects.clone();
        this.descriptors = new int[objects.length];
        for (int i = 0; i < objects.length; i++) {
            descriptors[i] = objects[i].waitDescriptor();
        }
    }

    public boolean until(Duration deadline) {
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        while (mayBlock()) {
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) { return false; }
            Interrupts.check("poll");
            if (pause(left)) { return true; }
        }
        return true;
    }

    private boolean mayBlock() {
        for (Waitable object : objects) {
            if (!object.tryWait()) { return false; }
        }
        return true;
    }

    private boolean pause(long left) {
        if (Thread.currentThread().isVirtual()) { // a system call would hold its carrier
            LockSupport.parkNanos(this, Math.min(left, VIRTUAL_PARK_NANOS));
            return false;
        }
        long millis = (left + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
        return Descriptors.poll((int) Math.min(millis, SLICE_MILLIS), descriptors) > 0;
    }
}
