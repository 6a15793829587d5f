package io.ofi4j.internal;

/** Completions that were read while something else was done, in their order, until somebody polls for them. */
public final class CompletionRing {
    private static final int FIELDS = 4;

    private long[] entries;
    private int first;
    private int count;

    /** @param capacity how many entries it holds before it grows */
    public CompletionRing(int capacity) {
        this.entries = new long[capacity * FIELDS];
    }

    public int size() {
        return count;
    }

    public void add(long token, long flags, long length, long data) {
        if (count * FIELDS == entries.length) {
            grow();
        }
        int at = (first + count) * FIELDS % entries.length;
        entries[at] = token;
        entries[at + 1] = flags;
        entries[at + 2] = length;
        entries[at + 3] = data;
        count++;
    }

    /** Moves entries to the beginning of a batch; how many. */
    public int drainTo(long[] batch, int limit) {
        int moved = Math.min(limit, count);
        for (int i = 0; i < moved; i++) {
            System.arraycopy(entries, first * FIELDS, batch, i * FIELDS, FIELDS);
            first = (first + 1) % (entries.length / FIELDS);
        }
        count -= moved;
        return moved;
    }

    private void grow() {
        long[] larger = new long[entries.length * 2];
        int size = count;
        drainTo(larger, size);
        entries = larger;
        first = 0;
        count = size;
    }
}
