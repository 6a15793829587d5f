package io.ofi4j.internal.quirks.rxm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Closes an endpoint of verbs once {@code ofi_rxm} has taken all completions from its queue, which it does in the same
 * call, and not before: it answers atomic operations and long messages that it finds there through the endpoint. What
 * comes to the queue after that is dropped, as its connection is gone.
 *
 * <p>Meanwhile the fi_cq_read of verbs' queues is a Java method, which other threads pass through.
 */
final class LateCloses {
    private static final FunctionDescriptor READ = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** A peer that goes on sending does not keep an endpoint open. */
    private static final long MAX_NANOS = 1_000_000_000;
    /** Where a {@code struct fi_cq_data_entry} has its flags, behind the context. */
    private static final long FLAGS = 8;
    /** The bytes of a receive of {@code ofi_rxm} that are searched for the endpoint that it was posted to. */
    private static final long SEARCHED_BYTES = 16 * Long.BYTES;

    /** The threads that empty a queue. */
    private static final Map<Thread, LateCloses> EMPTYING = new ConcurrentHashMap<>();
    /** Null until it is prepared, and where it cannot be written. */
    private static FunctionSlot slot;
    private static MemorySegment original;
    private static MemorySegment stub;

    private final long endpoint;
    private final Runnable close;
    private final long begin = System.nanoTime();
    private boolean isClosed;

    private LateCloses(long endpoint, Runnable close) {
        this.endpoint = endpoint;
        this.close = close;
    }

    /** Makes the method for the table of verbs' queues. */
    static synchronized void prepare(FunctionSlot read) {
        if (slot != null || !read.isWritable()) { return; }
        try {
            MethodHandle method = MethodHandles.lookup().findStatic(LateCloses.class, "read",
                    READ.toMethodType().insertParameterTypes(0, MemorySegment.class));
            original = read.function();
            stub = FunctionSlot.ofJava(MethodHandles.insertArguments(method, 0, original), READ);
            slot = read;
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Puts verbs' function back for good: the JVM ends. */
    static synchronized void end() {
        if (slot != null) { slot.set(original); }
        slot = null;
    }

    /**
     * Has an endpoint closed when the queue is empty that the current thread reads next. False if that cannot be.
     *
     * @param close throws nothing
     */
    static synchronized boolean begin(long endpoint, Runnable close) {
        if (slot == null) { return false; }
        LateCloses before = EMPTYING.put(Thread.currentThread(), new LateCloses(endpoint, close));
        if (before != null) { before.close(); }
        slot.set(stub);
        return true;
    }

    private static synchronized void leave() {
        EMPTYING.remove(Thread.currentThread());
        if (EMPTYING.isEmpty() && slot != null) { slot.set(original); }
    }

    private void close() {
        if (!isClosed) { close.run(); }
        isClosed = true;
    }

    /** An upcall: what it threw would end the process. */
    private static long read(MemorySegment original, long queue, long entries, long count) {
        long found = -Errno.EAGAIN;
        try {
            LateCloses mine = EMPTYING.get(Thread.currentThread());
            while (true) {
                found = Downcalls.call(false, original, queue, entries, count);
                if (mine == null) { return found; }
                if (found > 0 && mine.isClosed && mine.isItsReceive(entries)) { continue; }
                boolean isLate = !mine.isClosed && System.nanoTime() - mine.begin > MAX_NANOS;
                if (isLate) { mine.close(); }
                if (found != -Errno.EAGAIN) { return found; }
                if (mine.isClosed) {
                    leave();
                    return found;
                }
                mine.close();
            }
        } catch (Throwable t) { // what was found is in the entries
            return found;
        }
    }

    private boolean isItsReceive(long entry) {
        if ((NativeWords.get(entry, FLAGS) & FabricConstants.FI_RECV) == 0) { return false; }
        long receive = NativeWords.get(entry, 0);
        for (long word = 0; word < SEARCHED_BYTES; word += Long.BYTES) {
            if (NativeWords.get(receive, word) == endpoint) { return true; }
        }
        return false;
    }
}
