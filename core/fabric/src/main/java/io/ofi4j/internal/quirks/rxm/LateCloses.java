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
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads a queue of the provider below for {@code ofi_rxm} around a close: it answers atomic operations and long
 * messages that it finds there through an endpoint that is closed. A provider looks for more completions only when its
 * queue is empty, and a busy peer always has more. Therefore the queue is read in batches: one that is not full has
 * emptied it, and {@code ofi_rxm} gets what was in it.
 *
 * <p>Where {@code ofi_rxm} closes one connection, by itself, its endpoint is closed here, when the queue is empty. What
 * comes to the queue after that is dropped where it can be recognised. Where the program closes the endpoint of
 * {@code ofi_rxm}, and all connections with it, {@code ofi_rxm} learns of nothing that comes then.
 *
 * <p>Meanwhile that queue has a table of its own, whose fi_cq_read is a Java method. No other queue has it: queues that
 * ofi4j itself opens are read by critical calls, which must not reach a Java method.
 */
final class LateCloses {
    private static final FunctionDescriptor READ = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** {@code struct fi_cq_data_entry}, and where it has its flags, behind the context. */
    private static final long ENTRY = 40;
    private static final long FLAGS = 8;
    private static final int BATCH = 256;
    /** A peer that goes on sending does not keep an endpoint open. A full batch is followed by another in any case. */
    private static final int BATCHES = 64;
    /** The bytes of a receive of {@code ofi_rxm} that are searched for the endpoint that it was posted to. */
    private static final long SEARCHED_BYTES = 16 * Long.BYTES;

    /** By the address of the queue, which {@code ofi_rxm} reads under a lock. */
    private static final Map<Long, LateCloses> EMPTYING = new ConcurrentHashMap<>();
    /** The usual tables of queues of providers below, and what replaces them; empty once the JVM ends. */
    private static final Map<MemorySegment, MemorySegment> REPLACED = new HashMap<>();

    private final MemorySegment table;
    private final long endpoint;
    private final Runnable close;
    private final MemorySegment batch = Arena.ofAuto().allocate(BATCH * ENTRY, Long.BYTES);
    private int batches;
    /** Whether the queue was empty after the batch. */
    private boolean isEmptied;
    /** How often the queue was empty. */
    private int rounds;
    private boolean dropsReceives;
    /** The number of entries in the batch, and how many of them {@code ofi_rxm} has. */
    private long filled;
    private long taken;
    private boolean isClosed;

    private LateCloses(MemorySegment table, long endpoint, Runnable close) {
        this.table = table;
        this.endpoint = endpoint;
        this.close = close;
    }

    /** Makes the other table for queues like that one. */
    static synchronized void prepare(Handle queue) {
        MemorySegment usual = FunctionSlot.tableOfReads(queue.address()).function();
        if (REPLACED.containsKey(usual)) { return; }
        MemorySegment copy = FunctionSlot.copy(usual);
        FunctionSlot read = FunctionSlot.read(queue);
        try {
            read.inCopy(usual, copy)
                    .set(CoreProviderPatch.ofJava(read.function(), MethodHandles.lookup(), "read", READ));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
        REPLACED.put(usual, copy);
    }

    /** Whether queues like that one, by its table, can be emptied. */
    static synchronized boolean knows(long queue) {
        return REPLACED.containsKey(FunctionSlot.tableOfReads(queue).function());
    }

    /** The JVM ends: no queue may reach a Java method any more. */
    static synchronized void end() {
        EMPTYING.forEach((queue, late) -> {
            // one whose endpoint is being closed may be freed already; its thread does not return to Java
            if (!late.dropsReceives) { FunctionSlot.tableOfReads(queue).set(late.table); }
        });
        EMPTYING.clear();
        REPLACED.clear();
    }

    /**
     * Has an endpoint closed when its queue is empty, which is read next; false if that cannot be, and then nothing has
     * happened.
     */
    static synchronized boolean begin(long queue, long endpoint, Runnable close) {
        FunctionSlot table = FunctionSlot.tableOfReads(queue);
        MemorySegment usual = table.function();
        MemorySegment replaced = REPLACED.get(usual);
        if (replaced == null) { return false; }
        EMPTYING.put(queue, new LateCloses(usual, endpoint, close));
        table.set(replaced);
        return true;
    }

    /** Begins to empty a queue of an endpoint that will be closed; null if that cannot be. */
    static synchronized LateCloses begin(long queue) {
        return begin(queue, 0, null) ? EMPTYING.get(queue) : null;
    }

    /** @param isFreed whether the queue is closed; if not, it is read as before from now on */
    static synchronized void forget(long queue, boolean isFreed) {
        if (isFreed) {
            EMPTYING.remove(queue);
        } else {
            leave(queue);
        }
    }

    /** From now on {@code ofi_rxm} learns of nothing that comes: all connections of the endpoint are closed. */
    void dropReceives() {
        dropsReceives = true;
    }

    /** {@return how often the queue was empty} */
    int rounds() { return rounds; }

    private static synchronized void leave(long queue) {
        LateCloses left = EMPTYING.remove(queue);
        if (left != null) { FunctionSlot.tableOfReads(queue).set(left.table); }
    }

    /** An upcall: what it threw would end the process. */
    private static long read(MemorySegment original, long queue, long entries, long count) {
        try {
            LateCloses mine = EMPTYING.get(queue);
            if (mine == null) { return Downcalls.call(false, original, queue, entries, count); }
            if (mine.dropsReceives) { return readWithoutReceives(original, queue, entries); }
            long found = mine.readOpen(original, queue, entries, count);
            if (found != 0) { return found; }
            if (mine.close == null) {
                mine.beginAgain();
                return -Errno.EAGAIN;
            }
            if (!mine.isClosed) {
                mine.isClosed = true;
                mine.close.run();
            }
            do {
                found = Downcalls.call(false, original, queue, entries, count);
            } while (found > 0 && mine.isItsReceive(entries));
            if (found == -Errno.EAGAIN) { leave(queue); }
            return found;
        } catch (Throwable t) {
            return -Errno.EAGAIN; // ofi_rxm reads again when it makes progress
        }
    }

    private static long readWithoutReceives(MemorySegment original, long queue, long entries) {
        for (int dropped = 0; dropped < BATCHES * BATCH; dropped++) { // a busy peer of another connection has more
            long found = Downcalls.call(false, original, queue, entries, 1L);
            if (found <= 0 || !isReceive(entries)) { return found; }
        }
        return -Errno.EAGAIN;
    }

    private void beginAgain() {
        rounds++;
        batches = 0;
        isEmptied = false;
    }

    /** What {@code ofi_rxm} gets before the endpoint closes; 0 when it is to be closed, and later. */
    private long readOpen(MemorySegment original, long queue, long entries, long count) {
        if (taken == filled) {
            if (isEmptied) { return 0; }
            filled = 0;
            taken = 0;
            long found = Downcalls.call(false, original, queue, batch.address(), BATCH);
            isEmptied = found == -Errno.EAGAIN || ++batches >= BATCHES && found >= 0 && found < BATCH;
            if (found == -Errno.EAGAIN) { return 0; }
            if (found < 0) { return found; } // an operation that has failed: another call reads it
            filled = found;
        }
        long given = Math.min(count, filled - taken);
        LibC.bytes(MemorySegment.ofAddress(entries), given * ENTRY)
                .copyFrom(batch.asSlice(taken * ENTRY, given * ENTRY));
        taken += given;
        return given;
    }

    private boolean isItsReceive(long entry) {
        if (!isReceive(entry)) { return false; }
        long receive = NativeWords.get(entry, 0);
        for (long word = 0; word < SEARCHED_BYTES; word += Long.BYTES) {
            if (NativeWords.get(receive, word) == endpoint) { return true; }
        }
        return false;
    }

    private static boolean isReceive(long entry) {
        return (NativeWords.get(entry, FLAGS) & FabricConstants.FI_RECV) != 0;
    }
}
