package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.CqOps;

/** Completions that were read during other calls, in order, until a poll takes them. Grows as needed. */
public final class CompletionRing {
    private static final int FIELDS = 7;

    private long[] entries;
    private int first;
    private int count;

    public CompletionRing(int capacity) { this.entries = new long[capacity * FIELDS]; }

    public int size() { return count; }

    /** Adds an entry of a batch, with its token. */
    public void add(long token, CqOps batch, int entry) {
        add(token, batch.flags(entry), batch.length(entry), batch.data(entry), batch.buffer(entry), batch.tag(entry),
                batch.source(entry));
    }

    public void add(long token, long flags, long length, long data, long buffer, long tag, long source) {
        if (count * FIELDS == entries.length) { grow(); }
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

    /**
     * A field of an entry, which must exist; 0 is the oldest entry. The fields have the numbers 0 to 6, in the order of
     * {@code add}.
     */
    public long field(int entry, int number) { return entries[(first + entry * FIELDS) % entries.length + number]; }

    /** Removes the oldest entries, all or, if an error is thrown, none. */
    public void remove(int removed) {
        first = (first + removed * FIELDS) % entries.length;
        count -= removed;
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
