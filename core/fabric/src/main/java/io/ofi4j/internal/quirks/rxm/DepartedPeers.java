package io.ofi4j.internal.quirks.rxm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.internal.quirks.EndpointView;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes {@code ofi_rxm} forget an endpoint of the provider below before the endpoint is closed. Each such endpoint has
 * a table of its own, whose fi_close removes the endpoint from its connection, and {@code ofi_rxm} posts nothing to a
 * connection without an endpoint. That is done when {@code ofi_rxm} has answered what had come; see {@link LateCloses}.
 * Flow-control messages for closed endpoints are dropped.
 */
final class DepartedPeers extends CoreProviderPatch {
    private static final String UPSTREAM = """
            Where a peer leaves before ofi_rxm has looked at what it sent, ofi_rxm closes its endpoint and then \
            posts receives to it, adds credits to it, and answers atomic operations and long messages through it; the \
            process ends.""";
    private static final String FLOW_CONTROL = "ofix_flow_ctrl_v1";
    /** {@code struct ofi_ops_flow_ctrl}: its size, and four functions, of which this is the third. */
    private static final long FLOW_CONTROL_SIZE = 40;
    private static final long ADD_CREDITS_AT = 24;
    private static final FunctionDescriptor ADD_CREDITS = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor ENDPOINT = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
            JAVA_LONG);
    private static final FunctionDescriptor CLOSE = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor BIND = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final int EIO = -5;
    /** The state of a connection before it connects, and where that has failed. */
    private static final int IDLE = 0;
    /** ofi_rxm's connection begins with its state, the peer, the endpoint of the provider below, and its own. */
    private static final long SEARCHED_BYTES = 4 * Long.BYTES;

    /** Endpoints of ofi_rxm that are open. */
    private static final Set<Long> OPEN = ConcurrentHashMap.newKeySet();
    /** The queues that endpoints of the provider below are bound to. */
    private static final Map<Long, Long> QUEUES = new ConcurrentHashMap<>();
    /** Addresses of closed endpoints of the provider below that no other endpoint has got since. */
    private static final Set<Long> CLOSED = ConcurrentHashMap.newKeySet();

    /** What the provider below has instead, by the table of its endpoints. */
    private static final Map<MemorySegment, MemorySegment> TABLES = new HashMap<>();
    /** Endpoints of the provider below that are open, each with its usual table. */
    private static final Map<Long, MemorySegment> REPLACED = new HashMap<>();

    private static boolean isAtEnd;

    /**
     * Functions are replaced up to the newest version that was tested over verbs. ofi_rxm's connection begins the same
     * in all of them, and differently in what follows 2.6 (bc7f16ec0).
     */
    private static final VersionRange VERSIONS = VersionRange.from(1, 17).to(2, 1);

    DepartedPeers() {
        super("rxm-departed-peers", provider -> isTested(provider) && provider.hasCore("verbs"), VERSIONS, UPSTREAM,
                "DepartedPeerTest");
    }

    @Override
    protected void enabled(EndpointView endpoint) { OPEN.add(endpoint.handle().address()); }

    @Override
    protected void closed(EndpointView endpoint) { OPEN.remove(endpoint.handle().address()); }

    @Override
    int replaceIn(Handle domain) {
        OpenResult table = FunctionSlot.open(domain, FLOW_CONTROL);
        if (table.status() != 0) { return table.status(); }
        if (NativeWords.get(table.handle().address(), 0) >= FLOW_CONTROL_SIZE) {
            replace(FunctionSlot.in(table.handle().address(), ADD_CREDITS_AT), "addCredits", ADD_CREDITS);
        }
        replace(FunctionSlot.endpoint(domain), "open", ENDPOINT);
        return withQueue(domain, LateCloses::prepare);
    }

    /** The JVM ends: no endpoint may reach a Java method any more. */
    static void end() {
        synchronized (REPLACED) {
            REPLACED.forEach((endpoint, usual) -> FunctionSlot.table(endpoint).set(usual));
            REPLACED.clear();
            TABLES.clear();
            isAtEnd = true;
        }
    }

    private static void replace(FunctionSlot slot, String method, FunctionDescriptor descriptor) {
        replace(slot, MethodHandles.lookup(), method, descriptor);
    }

    /** An upcall, like the next three: what it threw would end the process. */
    private static void addCredits(MemorySegment original, long endpoint, long credits) {
        try {
            if (CLOSED.isEmpty() || !CLOSED.contains(endpoint)) { // a lookup allocates the key
                Downcalls.call(false, original, endpoint, credits);
            }
        } catch (Throwable t) { // lost credits make a peer wait until its deadline
            return;
        }
    }

    private static int open(MemorySegment original, long domain, long info, long out, long context) {
        int status = EIO;
        try {
            status = (int) Downcalls.call(false, original, domain, info, out, context);
            if (status == 0) {
                long endpoint = NativeWords.get(out, 0);
                CLOSED.remove(endpoint);
                if (context != 0) { replaceIn(endpoint); } // endpoints of ofi4j itself have no context
            }
        } catch (Throwable t) {
            return status; // without the replacement as in a C program
        }
        return status;
    }

    private static void replaceIn(long endpoint) throws ReflectiveOperationException {
        synchronized (REPLACED) {
            if (isAtEnd) { return; }
            FunctionSlot slot = FunctionSlot.table(endpoint);
            MemorySegment usual = slot.function();
            MemorySegment replaced = TABLES.get(usual);
            if (replaced == null) {
                replaced = FunctionSlot.copy(usual);
                set(FunctionSlot.bind(endpoint), usual, replaced, "bind", BIND);
                set(FunctionSlot.close(endpoint), usual, replaced, "close", CLOSE);
                TABLES.put(usual, replaced);
            }
            REPLACED.put(endpoint, usual);
            slot.set(replaced);
        }
    }

    private static void set(FunctionSlot slot, MemorySegment usual, MemorySegment copy, String method,
            FunctionDescriptor descriptor) throws ReflectiveOperationException {
        slot.inCopy(usual, copy).set(ofJava(slot.function(), MethodHandles.lookup(), method, descriptor));
    }

    private static int bind(MemorySegment original, long object, long other, long flags) {
        int status = EIO;
        try {
            status = (int) Downcalls.call(false, original, object, other, flags);
            if (status == 0 && FunctionSlot.isQueue(other)) { QUEUES.put(object, other); }
        } catch (Throwable t) {
            return status; // without its queue as in a C program
        }
        return status;
    }

    private static int close(MemorySegment original, long object) {
        try {
            synchronized (REPLACED) {
                REPLACED.remove(object);
            }
            Long queue = QUEUES.remove(object);
            long connection = FunctionSlot.context(object);
            long field = field(object, connection);
            if (field >= 0) {
                CLOSED.add(object);
                Runnable close = () -> { // throws nothing
                    NativeWords.set(connection, field, 0);
                    callClose(original, object);
                };
                // ofi_rxm empties the queue next, except where a connection could not be begun
                boolean isEmptied = queue != null && NativeWords.getInt(connection, 0) != IDLE;
                if (!isEmptied || !LateCloses.begin(queue, object, close)) { close.run(); }
                return 0;
            }
        } catch (Throwable t) {
            return callClose(original, object); // as in a C program
        }
        return callClose(original, object);
    }

    private static int callClose(MemorySegment original, long object) {
        try {
            return (int) Downcalls.call(false, original, object);
        } catch (Throwable t) {
            return EIO;
        }
    }

    /** Where a connection of ofi_rxm, which is the context of its endpoint, has that endpoint; -1 if it is none. */
    private static long field(long endpoint, long connection) {
        if (connection == 0 || !NativeMemory.isReadable(connection)) { return -1; }
        long field = -1;
        boolean isOfOpenEndpoint = false;
        for (long word = 0; word < SEARCHED_BYTES; word += Long.BYTES) {
            long value = NativeWords.get(connection, word);
            field = value == endpoint ? word : field;
            isOfOpenEndpoint |= OPEN.contains(value);
        }
        return isOfOpenEndpoint ? field : -1;
    }
}
