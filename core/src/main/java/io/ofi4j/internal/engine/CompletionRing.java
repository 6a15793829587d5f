package io.ofi4j.internal.engine;

/** Completions that were read while something else was done, in their order, until somebody polls for them. */
public final class CompletionRing {
    private static final int FIELDS = 7;

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

    public void add(long token, long flags, long length, long data, long buffer, long tag, long source) {
        if (count * FIELDS == entries.length) {
            grow();
        }
        int at = (first + count * FIELDS) % entries.length;
        entries[at] = token;
        entries[at + 1] = flags;
        entries[at + 2] = length;
        entries[at + 3] = data;
        entries[at + 4] = buffer;
        entries[at + 5] = tag;
        entries[at + 6] = source;
        count++;
    }

    /** The token of the oldest entry; there must be one, as for all that follows. */
    public long token() {
        return entries[first];
    }

    public long flags() {
        return entries[first + 1];
    }

    public long length() {
        return entries[first + 2];
    }

    public long data() {
        return entries[first + 3];
    }

    public long buffer() {
        return entries[first + 4];
    }

    public long tag() {
        return entries[first + 5];
    }

    public long source() {
        return entries[first + 6];
    }

    /** Removes the oldest entry. */
    public void remove() {
        first = (first + FIELDS) % entries.length;
        count--;
    }

    private void grow() {
        long[] larger = new long[entries.length * 2];
        int upTo = entries.length - first;
        System.arraycopy(entries, first, larger, 0, upTo);
        System.arraycopy(entries, 0, larger, upTo, first);
        entries = larger;
        first = 0;
    }
}
