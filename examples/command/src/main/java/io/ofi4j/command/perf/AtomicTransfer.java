package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Adds the number in a slot to that in the target's, and fetches what that was into the answers. */
final class AtomicTransfer implements Transfer {
    private final Poster poster;
    private final long answers;
    private final long first;
    private final long stride;

    AtomicTransfer(End here, Layout layout) {
        this.poster = here.poster();
        this.answers = here.answers();
        this.first = layout.offset(0);
        this.stride = layout.stride();
    }

    @Override
    public boolean tryPost(int slot, long token) {
        long offset = first + slot * stride;
        return poster.tryFetchAdd(offset, answers + offset, offset, token);
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
