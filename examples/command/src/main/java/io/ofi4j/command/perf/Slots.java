package io.ofi4j.command.perf;

import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;

/**
 * Which slots the server is to prepare or to check.
 *
 * @param layout where they are
 * @param fill whether they are to be filled
 * @param seed what with
 */
record Slots(Layout layout, boolean fill, long seed) {
    private static final int MOST_SLOTS = 4096;

    PayloadWriter encode() {
        return new PayloadWriter().number(layout.size()).number(layout.slots()).number(fill ? 1 : 0).number(seed);
    }

    /** {@return the slots, which are inside a region of that length} */
    static Slots decode(Frame frame, long regionLength) throws ControlException {
        PayloadReader reader = frame.reader();
        long size = reader.number(0, regionLength);
        int count = (int) reader.number(1, MOST_SLOTS);
        boolean fill = reader.number(0, 1) == 1;
        long seed = reader.number(Long.MIN_VALUE, Long.MAX_VALUE);
        reader.end();
        Layout layout = new Layout(size, count);
        if (layout.stride() > regionLength || layout.regionLength() > regionLength) {
            throw new ControlException(ControlException.Reason.GARBAGE, "named memory that it did not ask for");
        }
        return new Slots(layout, fill, seed);
    }
}
