package io.ofi4j.jmh;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fid_cq;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/** The calls as core makes them, critical and with addresses as numbers, but with nothing around them. */
@SuppressWarnings("restricted")
public class CriticalLayer extends RawLayer {
    private static final long AGAIN = -fabric_h.FI_EAGAIN();
    private static final MethodHandle TRANSFER = critical(8);
    private static final MethodHandle INJECT = critical(6);
    private static final MethodHandle POLL = critical(3);
    private static final long CONTEXT = fi_cq_data_entry.op_context$offset();

    private MemorySegment writeFunction;
    private MemorySegment readFunction;
    private MemorySegment injectFunction;
    private MemorySegment pollFunction;
    private MemorySegment entries;
    private long source;
    private long local;
    private long descriptor;
    private long peer;
    private long remoteAddress;
    private long remoteKey;
    private long context;
    private long queue;
    private long targetQueue;
    private long entriesAddress;
    private long length;

    /** A handle for a call of so many numbers, which gives a number. */
    private static MethodHandle critical(int arguments) {
        MemoryLayout[] numbers = new MemoryLayout[arguments];
        Arrays.fill(numbers, JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG, numbers),
                Linker.Option.critical(false));
    }

    @Override
    void prepare() {
        writeFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.write$offset());
        readFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.read$offset());
        injectFunction = RawFabric.function(raw.source, fid_ep.rma$offset(), fi_ops_rma.inject$offset());
        pollFunction = RawFabric.function(raw.queue, fid_cq.ops$offset(), fi_ops_cq.read$offset());
        entries = raw.entries;
        source = raw.source.address();
        local = raw.local.address();
        descriptor = raw.descriptor.address();
        peer = raw.peer;
        remoteAddress = raw.remoteAddress;
        remoteKey = raw.remoteKey;
        context = raw.context.address();
        queue = raw.queue.address();
        targetQueue = raw.targetQueue.address();
        entriesAddress = raw.entries.address();
        length = size;
    }

    @Override
    public long write() {
        transfer(writeFunction, "fi_write");
        return await();
    }

    @Override
    public long read() {
        transfer(readFunction, "fi_read");
        return await();
    }

    private void transfer(MemorySegment function, String call) {
        try {
            long status;
            while ((status = (long) TRANSFER.invokeExact(function, source, local, length, descriptor, peer,
                    remoteAddress, remoteKey, context)) == AGAIN) {
                makeProgress();
            }
            RawFabric.check(status, call);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    @Override
    void postInject() {
        try {
            long status;
            while ((status = (long) INJECT.invokeExact(injectFunction, source, local, length, peer, remoteAddress,
                    remoteKey)) == AGAIN) {
                makeProgress();
            }
            RawFabric.check(status, "fi_inject_write");
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private long await() {
        int count;
        while ((count = poll()) == 0) {
            poll(targetQueue);
        }
        RawFabric.check(count - 1, "fi_cq_read");
        return entries.get(JAVA_LONG, CONTEXT);
    }

    @Override
    void makeProgress() {
        RawFabric.check(poll(targetQueue), "fi_cq_read");
        RawFabric.check(poll(), "fi_cq_read");
    }

    @Override
    public int poll() { return poll(queue); }

    /** How many completions; fails on anything but that or FI_EAGAIN. */
    private int poll(long which) {
        try {
            long count = (long) POLL.invokeExact(pollFunction, which, entriesAddress, (long) BATCH);
            if (count < 0 && count != AGAIN) { RawFabric.check(count, "fi_cq_read"); }
            return count < 0 ? 0 : (int) count;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
