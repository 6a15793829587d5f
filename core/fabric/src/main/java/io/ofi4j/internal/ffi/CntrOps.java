package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.LibC;
import io.ofi4j.bindings.fi_ops_cntr;
import io.ofi4j.bindings.fid_cntr;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@code struct fi_ops_cntr} of one counter. The functions for reading are looked up once, and allocate nothing. */
public final class CntrOps {
    private static final MethodHandle READ = Downcalls.critical(Downcalls.longs(1));
    private static final MethodHandle LONG_READ = Downcalls.plain(Downcalls.longs(1));
    private static final MethodHandle CHANGE = Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle WAIT = Downcalls
            .plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final long OPS = fid_cntr.ops$offset();

    private final Handle counter;
    private final long address;
    private final long read;
    private final long readerr;
    private final boolean plain;

    public CntrOps(Handle counter, boolean criticalReads) {
        this.counter = counter;
        this.address = counter.address();
        this.read = find(fi_ops_cntr.read$offset(), "fi_cntr_read");
        this.readerr = find(fi_ops_cntr.readerr$offset(), "fi_cntr_readerr");
        this.plain = !criticalReads;
    }

    private long find(long entry, String call) { return counter.require(OPS, entry, call).address(); }

    public long fi_cntr_read() { return read(read); }

    public long fi_cntr_readerr() { return read(readerr); }

    private long read(long function) {
        try {
            return plain ? (long) LONG_READ.invokeExact(function, address) : (long) READ.invokeExact(function, address);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public int fi_cntr_add(long value) { return change(find(fi_ops_cntr.add$offset(), "fi_cntr_add"), value); }

    public int fi_cntr_set(long value) { return change(find(fi_ops_cntr.set$offset(), "fi_cntr_set"), value); }

    public int fi_cntr_adderr(long value) { return change(find(fi_ops_cntr.adderr$offset(), "fi_cntr_adderr"), value); }

    public int fi_cntr_seterr(long value) { return change(find(fi_ops_cntr.seterr$offset(), "fi_cntr_seterr"), value); }

    private int change(long function, long value) {
        return (int) LibC.call(() -> (int) CHANGE.invokeExact(function, address, value));
    }

    /** 0, or an error negated; one provider returns it positive. */
    public int fi_cntr_wait(long threshold, int milliseconds) {
        long function = find(fi_ops_cntr.wait$offset(), "fi_cntr_wait");
        return (int) LibC.call(() -> (int) WAIT.invokeExact(function, address, threshold, milliseconds));
    }
}
