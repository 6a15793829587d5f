package io.ofi4j.examples.perf;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.Atomics;
import io.ofi4j.info.Datatype;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.examples.CommandFailure;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Adds the number in a slot to that in the target's, and fetches what that was into the answers. */
final class AtomicTransfer implements Transfer {
    private final Atomics atomics;
    private final MemoryRegion local;
    private final long answers;
    private final Peer peer;
    private final RemoteRegion remote;
    private final long first;
    private final long stride;

    AtomicTransfer(End here, Target target, Layout layout) {
        this.atomics = here.endpoint().atomics();
        this.local = here.region();
        this.answers = here.answers();
        this.peer = target.peer();
        this.remote = target.region();
        this.first = layout.offset(0);
        this.stride = layout.stride();
        if (atomics.fetchValid(AtomicOperation.SUM, Datatype.UINT64) == 0) {
            throw new CommandFailure("Provider " + here.endpoint().info().provider()
                    + " cannot add to 64-bit integers and fetch them: choose another (-p).");
        }
    }

    @Override
    public boolean tryPost(int slot, long token) {
        long offset = first + slot * stride;
        return atomics.tryFetch(AtomicOperation.SUM, Datatype.UINT64, local, offset, 1, local, answers + offset, peer,
                remote, offset, token);
    }

    /** Fills the slots with what makes the bytes of one seed of those of another. */
    static void fill(MemorySegment local, MemorySegment scratch, Layout layout, long from, long to) {
        Pattern.fill(local, layout, to);
        Pattern.fill(scratch, layout, from);
        for (int slot = 0; slot < layout.slots(); slot++) {
            long at = layout.offset(slot);
            local.set(ValueLayout.JAVA_LONG, at,
                    local.get(ValueLayout.JAVA_LONG, at) - scratch.get(ValueLayout.JAVA_LONG, at));
        }
    }
}
