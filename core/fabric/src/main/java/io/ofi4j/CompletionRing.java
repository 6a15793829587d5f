package io.ofi4j;

import io.ofi4j.internal.ffi.CqOps;

/** Completions and errors that were read during other calls, in order, until a poll takes them. Grows as needed. */
final class CompletionRing {
    private static final int FIELDS = 7;

    private long[] entries;
    /** The error that an entry is, or null; allocated when there is a first one. */
    private CompletionError[] errors;
    /** The index of the oldest entry in {@link #entries}. */
    private int first;
    private int count;

    CompletionRing(int capacity) { this.entries = new long[capacity * FIELDS]; }

    int size() { return count; }

    /** The number of completions before the first error, at most this limit. */
    int completions(int limit) {
        int most = Math.min(limit, count);
        int found = errors == null ? most : 0;
        while (found < most && errors[index(found)] == null) {
            found++;
        }
        return found;
    }

    private int index(int entry) { return (first + entry * FIELDS) % entries.length / FIELDS; }

    /** Adds an entry of a batch, with its token. */
    void add(long token, CqOps batch, int entry) {
        add(token, batch.flags(entry), batch.length(entry), batch.data(entry), batch.buffer(entry), batch.tag(entry),
                batch.source(entry));
    }

    void add(long token, long flags, long length, long data, long buffer, long tag, long source) {
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

    void add(CompletionError error) {
        if (count * FIELDS == entries.length) { grow(); }
        if (errors == null) { errors = new CompletionError[entries.length / FIELDS]; }
        errors[index(count)] = error;
        count++;
    }

    /**
     * A field of a completion, which must exist; 0 is the oldest entry. The fields have the numbers 0 to 6, in the
     * order of {@code add}.
     */
    long field(int entry, int number) { return entries[(first + entry * FIELDS) % entries.length + number]; }

    /** Removes the oldest entry if it is an error, and returns it; otherwise null. */
    CompletionError removeError() {
        int at = index(0);
        CompletionError error = errors == null ? null : errors[at];
        if (error != null) {
            errors[at] = null;
            first = (first + FIELDS) % entries.length;
            count--;
        }
        return error;
    }

    /** Removes the oldest entries, which are completions: all or, if an error is thrown, none. */
    void remove(int removed) {
        first = (first + removed * FIELDS) % entries.length;
        count -= removed;
    }

    private void grow() {
        long[] larger = new long[entries.length * 2];
        CompletionError[] largerErrors = errors == null ? null : new CompletionError[larger.length / FIELDS];
        int upTo = entries.length - first;
        System.arraycopy(entries, first, larger, 0, upTo);
        System.arraycopy(entries, 0, larger, upTo, first);
        for (int entry = 0; errors != null && entry < count; entry++) {
            largerErrors[entry] = errors[index(entry)];
        }
        entries = larger;
        errors = largerErrors;
        first = 0;
    }
}
