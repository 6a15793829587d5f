package io.ofi4j.jmh;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fid_cq;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.MemorySegment;

/** The calls that jextract generates, as they come: plain downcalls that take memory segments. */
public class GeneratedLayer extends RawLayer {
    private static final int AGAIN = -fabric_h.FI_EAGAIN();

    private MemorySegment writeFunction;
    private MemorySegment readFunction;
    private MemorySegment injectFunction;
    private MemorySegment pollFunction;

    @Override
    void prepare() {
        writeFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.write$offset());
        readFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.read$offset());
        injectFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.inject$offset());
        pollFunction = RawFabric.function(raw.queue, fid_cq.ops$offset(), fi_ops_cq.read$offset());
    }

    @Override
    public long write() {
        long status;
        while ((status = fi_ops_rma.write.invoke(writeFunction, raw.source, raw.local, size, raw.descriptor, raw.peer,
                raw.remoteAddress, raw.remoteKey, raw.context)) == AGAIN) {
            makeProgress();
        }
        RawFabric.check(status, "fi_write");
        return await();
    }

    @Override
    public long read() {
        long status;
        while ((status = fi_ops_rma.read.invoke(readFunction, raw.source, raw.local, size, raw.descriptor, raw.peer,
                raw.remoteAddress, raw.remoteKey, raw.context)) == AGAIN) {
            makeProgress();
        }
        RawFabric.check(status, "fi_read");
        return await();
    }

    @Override
    void postInject() {
        long status;
        while ((status = fi_ops_rma.inject.invoke(injectFunction, raw.source, raw.local, size, raw.peer,
                raw.remoteAddress, raw.remoteKey)) == AGAIN) {
            makeProgress();
        }
        RawFabric.check(status, "fi_inject_write");
    }

    private long await() {
        int count;
        while ((count = poll()) == 0) {
            poll(raw.targetQueue);
        }
        RawFabric.check(count - 1, "fi_cq_read");
        return fi_cq_data_entry.op_context(raw.entries).address();
    }

    @Override
    void makeProgress() {
        RawFabric.check(poll(raw.targetQueue), "fi_cq_read");
        RawFabric.check(poll(), "fi_cq_read");
    }

    @Override
    public int poll() { return poll(raw.queue); }

    /** How many completions; fails on anything but that or FI_EAGAIN. */
    private int poll(MemorySegment which) {
        long count = fi_ops_cq.read.invoke(pollFunction, which, raw.entries, BATCH);
        if (count < 0 && count != AGAIN) { RawFabric.check(count, "fi_cq_read"); }
        return count < 0 ? 0 : (int) count;
    }
}
