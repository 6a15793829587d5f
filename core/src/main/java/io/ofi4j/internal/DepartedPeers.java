package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_domain;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Peers of verbs that leave before ofi_rxm has looked at what they sent. When their connection ends, ofi_rxm closes its endpoint and
 * then looks: it posts receives anew to the endpoint that is gone, and adds to it what a message of flow control says. The process ends.
 *
 * <p>So what closes verbs' endpoints is replaced, and has ofi_rxm's connection forget the endpoint first, as ofi_rxm itself does
 * afterwards: it posts nothing to a connection without one. Messages of flow control for endpoints that are gone are dropped.
 */
@SuppressWarnings("restricted")
final class DepartedPeers {
    private static final String FLOW_CONTROL = "ofix_flow_ctrl_v1";
    /** {@code struct ofi_ops_flow_ctrl}: its size, and four functions, of which this is the third. */
    private static final long FLOW_CONTROL_SIZE = 40;
    private static final long ADD_CREDITS_AT = 24;
    private static final FunctionDescriptor ADD_CREDITS = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG);
    private static final MethodHandle CALL_ADD_CREDITS = Downcalls.plain(ADD_CREDITS);
    /** How much of ofi_rxm's connection is looked at: it begins with its state, the peer, verbs' endpoint and ofi_rxm's. */
    private static final MemoryLayout BEGINNING = MemoryLayout.sequenceLayout(4, JAVA_LONG);

    /** Endpoints of ofi_rxm that are open. */
    private static final Set<Long> OPEN = ConcurrentHashMap.newKeySet();
    /** Endpoints of verbs that are gone, and whose place has not been taken by another. */
    private static final Set<Long> GONE = ConcurrentHashMap.newKeySet();

    private DepartedPeers() {
    }

    /** An endpoint of ofi_rxm was opened. */
    static void opened(Handle endpoint) {
        if (OfiRxm.callsBack(endpoint.provider())) {
            OPEN.add(endpoint.address());
        }
    }

    /** Something was closed. */
    static void closed(Handle object) {
        if (OfiRxm.callsBack(object.provider())) {
            OPEN.remove(object.address());
        }
    }

    /**
     * Replaces what verbs has, of each process once.
     *
     * @return 0, or the error with which verbs refused to show its functions
     */
    static int replaceIn(Handle domain) {
        int status = replaceFlowControl(domain);
        if (status == 0) {
            MemorySegment table = domain.pointer().reinterpret(fid_domain.sizeof())
                    .get(ADDRESS, fid_domain.ops$offset()).reinterpret(fi_ops_domain.sizeof());
            MemorySegment original = fi_ops_domain.endpoint(table);
            Replaced.in(table, fi_ops_domain.endpoint$offset(),
                    () -> fi_ops_domain.endpoint.allocate(
                            (opening, info, out, context) -> open(original, opening, info, out, context),
                            Arena.global()));
        }
        return status;
    }

    private static int replaceFlowControl(Handle domain) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment function = domain.require(fid.ops$offset(), fi_ops.ops_open$offset(), "fi_open_ops");
            int status = fi_ops.ops_open.invoke(function, domain.pointer(), arena.allocateFrom(FLOW_CONTROL), 0, out,
                    MemorySegment.NULL);
            if (status != 0) {
                return status;
            }
            MemorySegment table = out.get(ADDRESS, 0).reinterpret(FLOW_CONTROL_SIZE);
            if (table.get(JAVA_LONG, 0) >= FLOW_CONTROL_SIZE) {
                MemorySegment original = table.get(ADDRESS, ADD_CREDITS_AT);
                Replaced.in(table, ADD_CREDITS_AT, () -> addingCredits(original));
            }
            return 0;
        }
    }

    private static MemorySegment addingCredits(MemorySegment original) {
        try {
            MethodHandle handle = MethodHandles.lookup().findStatic(DepartedPeers.class, "addCredits",
                    MethodType.methodType(void.class, MemorySegment.class, long.class, long.class));
            return Linker.nativeLinker().upcallStub(handle.bindTo(original), ADD_CREDITS, Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static void addCredits(MemorySegment original, long endpoint, long credits) {
        if (!GONE.contains(endpoint)) {
            try {
                CALL_ADD_CREDITS.invokeExact(original, endpoint, credits);
            } catch (Throwable t) {
                throw Downcalls.unexpected(t);
            }
        }
    }

    private static int open(MemorySegment original, MemorySegment domain, MemorySegment info, MemorySegment out,
            MemorySegment context) {
        int status = fi_ops_domain.endpoint.invoke(original, domain, info, out, context);
        if (status == 0) {
            MemorySegment endpoint = out.reinterpret(ADDRESS.byteSize()).get(ADDRESS, 0);
            GONE.remove(endpoint.address());
            MemorySegment table = fid.ops(endpoint.reinterpret(fid.sizeof())).reinterpret(fi_ops.sizeof());
            MemorySegment closing = fi_ops.close(table);
            Replaced.in(table, fi_ops.close$offset(),
                    () -> fi_ops.close.allocate(object -> close(closing, object), Arena.global()));
        }
        return status;
    }

    private static int close(MemorySegment original, MemorySegment object) {
        MemorySegment closed = object.reinterpret(fid.sizeof());
        if (fid.fclass(closed) == fabric_h.FI_CLASS_EP() && forget(object.address(), fid.context(closed))) {
            GONE.add(object.address());
        }
        return fi_ops.close.invoke(original, object);
    }

    /** Whether it is the endpoint of a connection of ofi_rxm, which its context is then; the connection has none any more. */
    private static boolean forget(long endpoint, MemorySegment context) {
        if (context.address() == 0 || !NativeMemory.isWritable(context.address())) {
            return false;
        }
        MemorySegment connection = context.reinterpret(BEGINNING.byteSize());
        long place = -1;
        boolean isOfOurs = false;
        for (long word = 0; word < BEGINNING.byteSize(); word += Long.BYTES) {
            long value = connection.get(JAVA_LONG, word);
            place = value == endpoint ? word : place;
            isOfOurs |= OPEN.contains(value);
        }
        if (place < 0 || !isOfOurs) {
            return false;
        }
        connection.set(JAVA_LONG, place, 0);
        return true;
    }
}
