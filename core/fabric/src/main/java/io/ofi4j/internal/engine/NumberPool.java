package io.ofi4j.internal.engine;

import java.util.BitSet;

/**
 * The numbers of the open objects of one kind, as slots hold them. They are given in turn; where they begin again,
 * those in use are left out.
 */
public final class NumberPool {
    private final String kind;
    private final BitSet used = new BitSet();
    private int last;

    /** @param kind of the objects, in the plural */
    public NumberPool(String kind) { this.kind = kind; }

    /** {@return a number that no open object has; never 0, which marks a free slot} */
    public synchronized int take() {
        int next = used.nextClearBit(last + 1);
        if (next > ContextSlab.MAX_NUMBER) { next = used.nextClearBit(1); }
        if (next > ContextSlab.MAX_NUMBER) {
            throw new IllegalStateException(
                    "a domain has at most " + ContextSlab.MAX_NUMBER + " open " + kind + ": close some");
        }
        used.set(next);
        last = next;
        return next;
    }

    /** Gives back the number of an object that no slot refers to any more. */
    public synchronized void free(int number) {
        used.clear(number);
    }

    /** Begins after this number, for tests. */
    public synchronized void beginAfter(int number) { last = number; }
}
