package io.ofi4j.command.perf;

/**
 * Where operations of one size go inside a region: slots with guard bytes around them.
 *
 * @param size how many bytes an operation transfers
 * @param slots how many operations have a place of their own
 */
public record Layout(long size, int slots) {
    /** So many bytes at least are between slots, and slots begin at multiples of it. */
    static final int GUARD = 64;
    /** Behind the last slot, for the operation that shows that everything before it has arrived. */
    static final int MARKER = 64;

    private static final long MOST_BYTES = 16L << 20;

    /** {@return a layout for that many operations, or for fewer where they would take too much memory} */
    static Layout of(long size, int wanted) {
        long stride = new Layout(size, 1).stride();
        return new Layout(size, Math.clamp(MOST_BYTES / stride, 1, wanted));
    }

    long stride() { return (size + GUARD - 1) / GUARD * GUARD + GUARD; }

    long offset(int slot) { return GUARD + slot * stride(); }

    /** {@return how many bytes the slots take with all guards} */
    long length() { return offset(slots); }

    /** {@return how many bytes a region has that holds this layout and a marker} */
    long regionLength() {
        return length() + MARKER;
    }
}
