package io.ofi4j.internal.quirks.rxm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
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
 * <p>Meanwhile that queue has a table of its own, whose fi_cq_read is a Java method. No other queue has it: ofi4j's own
 * queues of verbs are read by critical calls, which must not reach a Java method.
 */
final class LateCloses {
    private static final FunctionDescriptor READ = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** A peer that goes on sending does not keep an endpoint open. */
    private static final long MAX_NANOS = 1_000_000_000;
    /** Where a {@code struct fi_cq_data_entry} has its flags, behind the context. */
    private static final long FLAGS = 8;
    /** The bytes of a receive of {@code ofi_rxm} that are searched for the endpoint that it was posted to. */
    private static final long SEARCHED_BYTES = 16 * Long.BYTES;

    /** By the address of the queue, which {@code ofi_rxm} reads under a lock. */
    private static final Map<Long, LateCloses> EMPTYING = new ConcurrentHashMap<>();
    /** The table of verbs' queues; null until it is known, and once the JVM ends. */
    private static MemorySegment usual;
    private static MemorySegment replaced;

    private final long endpoint;
    private final Runnable close;
    private final long begin = System.nanoTime();
    private boolean isClosed;

    private LateCloses(long endpoint, Runnable close) {
        this.endpoint = endpoint;
        this.close = close;
    }

    /** Makes the other table, like that of a queue of verbs. */
    static synchronized void prepare(Handle queue) {
        if (replaced != null) { return; }
        MemorySegment table = FunctionSlot.table(queue.address()).function();
        FunctionSlot read = FunctionSlot.read(queue);
        long size = NativeWords.get(table.address(), 0); // every table begins with its size
        MemorySegment copy = Arena.global().allocate(size, Long.BYTES).copyFrom(LibC.bytes(table, size));
        try {
            MethodHandle method = MethodHandles.lookup().findStatic(LateCloses.class, "read",
                    READ.toMethodType().insertParameterTypes(0, MemorySegment.class));
            FunctionSlot.in(copy.address(), read.address() - table.address())
                    .set(FunctionSlot.ofJava(MethodHandles.insertArguments(method, 0, read.function()), READ));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        replaced = copy;
        usual = table;
    }

    /** The JVM ends: no queue may reach a Java method any more. */
    static synchronized void end() {
        if (usual != null) { EMPTYING.keySet().forEach(queue -> FunctionSlot.table(queue).set(usual)); }
        usual = null;
    }

    /**
     * Has an endpoint closed when its queue is empty, which is read next; false if that cannot be, and then nothing has
     * happened.
     */
    static synchronized boolean begin(long queue, long endpoint, Runnable close) {
        FunctionSlot table = FunctionSlot.table(queue);
        if (usual == null || !table.function().equals(usual)) { return false; }
        EMPTYING.put(queue, new LateCloses(endpoint, close));
        table.set(replaced);
        return true;
    }

    private static synchronized void leave(long queue) {
        if (usual != null) { FunctionSlot.table(queue).set(usual); }
        EMPTYING.remove(queue);
    }

    private void close() {
        isClosed = true;
        close.run();
    }

    /** An upcall: what it threw would end the process. */
    private static long read(MemorySegment original, long queue, long entries, long count) {
        long found = -Errno.EAGAIN;
        try {
            LateCloses mine = EMPTYING.get(queue);
            while (true) {
                found = Downcalls.call(false, original, queue, entries, count);
                if (mine == null) { return found; }
                if (found > 0 && mine.isClosed && mine.isItsReceive(entries)) { continue; }
                if (found != -Errno.EAGAIN && (mine.isClosed || System.nanoTime() - mine.begin < MAX_NANOS)) {
                    return found;
                }
                if (mine.isClosed) {
                    leave(queue);
                    return found;
                }
                mine.close();
                if (found != -Errno.EAGAIN) { return found; }
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
