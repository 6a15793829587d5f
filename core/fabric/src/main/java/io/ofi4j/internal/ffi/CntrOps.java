package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_ops_cntr;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_cntr} of one counter. The functions for reading are looked up once, and allocate nothing. */
public final class CntrOps {
    private final Handle counter;
    private final long address;
    private final MemorySegment read;
    private final MemorySegment readerr;
    private final boolean criticalReads;
    /** Looked up by the first wait; two threads would find the same. */
    private MemorySegment wait;

    public CntrOps(Handle counter, boolean criticalReads) {
        this.counter = counter;
        this.address = counter.address();
        this.read = fi_cntr_read.of(counter);
        this.readerr = fi_cntr_readerr.of(counter);
        this.criticalReads = criticalReads;
    }

    public long fi_cntr_read() { return Downcalls.call(criticalReads, read, address); }

    public long fi_cntr_readerr() { return Downcalls.call(criticalReads, readerr, address); }

    public int fi_cntr_add(long value) { return change(fi_cntr_add, value); }

    public int fi_cntr_set(long value) { return change(fi_cntr_set, value); }

    public int fi_cntr_adderr(long value) { return change(fi_cntr_adderr, value); }

    public int fi_cntr_seterr(long value) { return change(fi_cntr_seterr, value); }

    private int change(InlineFunction function, long value) {
        return (int) Downcalls.call(false, function.of(counter), address, value);
    }

    /** 0, or an error negated; one provider returns it positive. */
    public int fi_cntr_wait(long threshold, int milliseconds) {
        if (wait == null) { wait = fi_cntr_wait.of(counter); }
        return (int) Downcalls.call(false, wait, address, threshold, milliseconds);
    }
}
