package io.ofi4j.verbs;

/**
 * The operations in flight on one queue of a queue pair, in the order of posting. The device completes them in that
 * order, so a completion also ends the unreported operations before it. Not thread-safe: used inside the guard of the
 * completion queue.
 */
final class WorkRing {
    private final long[] tokens;
    private final byte[] kinds;
    /** The regions of operations, and the windows of binds. */
    private final Object[] subjects;
    private final int mask;
    private final int capacity;
    private int head;
    private int tail;

    WorkRing(int capacity) {
        int size = Integer.highestOneBit(Math.max(1, capacity * 2 - 1));
        this.tokens = new long[size];
        this.kinds = new byte[size];
        this.subjects = new Object[size];
        this.mask = size - 1;
        this.capacity = capacity;
    }

    int capacity() { return capacity; }

    int inFlight() { return tail - head; }

    boolean isFull() { return tail - head >= capacity; }

    /** The position that the next operation gets. */
    int next() { return tail; }

    void add(long token, int kind, Object subject) {
        int slot = tail++ & mask;
        tokens[slot] = token;
        kinds[slot] = (byte) kind;
        subjects[slot] = subject;
    }

    /** Takes back the operation that was added last. */
    void removeLast() { subjects[--tail & mask] = null; }

    boolean holds(int position) { return position - head >= 0 && position - tail < 0; }

    int oldest() { return head; }

    long token(int position) { return tokens[position & mask]; }

    int kind(int position) { return kinds[position & mask]; }

    Object subject(int position) { return subjects[position & mask]; }

    /** Ends an operation and all before it. */
    void complete(int position) {
        while (position - head >= 0) {
            subjects[head++ & mask] = null;
        }
    }

    boolean usesSubject(Object subject) {
        for (int position = head; position != tail; position++) {
            if (subjects[position & mask] == subject) { return true; }
        }
        return false;
    }
}
