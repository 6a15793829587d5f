package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_av_set_attr;
import io.ofi4j.bindings.fi_collective_addr;
import io.ofi4j.bindings.fi_collective_attr;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fi_ops_av_set;
import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.bindings.fi_ops_collective;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fid_av;
import io.ofi4j.bindings.fid_av_set;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.bindings.fid_mc;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code struct fi_ops_collective} of one endpoint, and what fi_collective(3) has beside it. Made after fi_enable. datatype is an
 * {@code enum fi_datatype}, operation an {@code enum fi_op}. The calls allocate: none is critical.
 */
@SuppressWarnings("restricted")
public final class CollectiveOps {
    private static final MethodHandle BARRIER = Downcalls.plain(Downcalls.longs(3));
    private static final MethodHandle BROADCAST = Downcalls.plain(typed(6).appendArgumentLayouts(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ALLREDUCE = Downcalls
            .plain(typed(7).appendArgumentLayouts(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ALLGATHER = Downcalls.plain(typed(7).appendArgumentLayouts(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle SCATTER = Downcalls.plain(typed(8).appendArgumentLayouts(JAVA_LONG, JAVA_LONG));
    private static final long OPS = fid_ep.collective$offset();

    private final long endpoint;
    private final long barrier;
    private final long broadcast;
    private final long allreduce;
    private final long allgather;
    private final long scatter;

    public CollectiveOps(Handle endpoint) {
        this.endpoint = endpoint.address();
        this.barrier = require(endpoint, fi_ops_collective.barrier$offset(), "fi_barrier");
        this.broadcast = require(endpoint, fi_ops_collective.broadcast$offset(), "fi_broadcast");
        this.allreduce = require(endpoint, fi_ops_collective.allreduce$offset(), "fi_allreduce");
        this.allgather = require(endpoint, fi_ops_collective.allgather$offset(), "fi_allgather");
        this.scatter = require(endpoint, fi_ops_collective.scatter$offset(), "fi_scatter");
    }

    /** That many pointers and integers, and a datatype. */
    private static FunctionDescriptor typed(int longs) {
        return Downcalls.longs(longs).appendArgumentLayouts(JAVA_INT);
    }

    private static long require(Handle endpoint, long entry, String call) {
        return endpoint.require(OPS, entry, call).address();
    }

    public long fi_barrier(long group, long context) {
        try {
            return (long) BARRIER.invokeExact(barrier, endpoint, group, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_broadcast(long buffer, long count, long descriptor, long group, long root, int datatype,
            long context) {
        try {
            return (long) BROADCAST.invokeExact(broadcast, endpoint, buffer, count, descriptor, group, root, datatype,
                    0L, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_allreduce(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            int datatype, int operation, long context) {
        try {
            return (long) ALLREDUCE.invokeExact(allreduce, endpoint, buffer, count, descriptor, result,
                    resultDescriptor, group, datatype, operation, 0L, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_allgather(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            int datatype, long context) {
        try {
            return (long) ALLGATHER.invokeExact(allgather, endpoint, buffer, count, descriptor, result,
                    resultDescriptor, group, datatype, 0L, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    public long fi_scatter(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            long root, int datatype, long context) {
        try {
            return (long) SCATTER.invokeExact(scatter, endpoint, buffer, count, descriptor, result, resultDescriptor,
                    group, root, datatype, 0L, context);
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    /** The largest number of members, or 0 if the provider does not have it; kind is an {@code enum fi_collective_op}. */
    public static long fi_query_collective(Handle domain, int kind, int operation, int datatype) {
        MemorySegment function = domain.find(fid_domain.ops$offset(), fi_ops_domain.query_collective$offset());
        if (function == null) { return 0; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_collective_attr.allocate(arena);
            fi_collective_attr.op(attributes, operation);
            fi_collective_attr.datatype(attributes, datatype);
            int status = fi_ops_domain.query_collective.invoke(function, domain.pointer(), kind, attributes, 0);
            return status == 0 ? fi_collective_attr.max_members(attributes) : 0;
        }
    }

    /**
     * An empty set with room for so many addresses: its range ends before it starts. libfabric 1.17 takes FI_ADDR_NOTAVAIL, which
     * means that since 2.0, for an address.
     */
    public static Opened fi_av_set(Handle vector, long count) {
        MemorySegment function = vector.require(fid_av.ops$offset(), fi_ops_av.av_set$offset(), "fi_av_set");
        return Opened.by(vector.provider(), (arena, out) -> {
            MemorySegment attributes = fi_av_set_attr.allocate(arena);
            fi_av_set_attr.count(attributes, count);
            fi_av_set_attr.start_addr(attributes, 1);
            fi_av_set_attr.end_addr(attributes, 0);
            fi_av_set_attr.stride(attributes, 1);
            return fi_ops_av.av_set.invoke(function, vector.pointer(), attributes, out, MemorySegment.NULL);
        });
    }

    public static int fi_av_set_insert(Handle set, long address) {
        MemorySegment function = ofSet(set, fi_ops_av_set.insert$offset());
        return fi_ops_av_set.insert.invoke(function, set.pointer(), address);
    }

    /** With the address of the set itself: without one, some versions use what they have not made. */
    public static Opened fi_join_collective(Handle endpoint, Handle set) {
        MemorySegment function = endpoint.require(fid_ep.cm$offset(), fi_ops_cm.join$offset(), "fi_join_collective");
        MemorySegment its = ofSet(set, fi_ops_av_set.addr$offset());
        return Opened.by(endpoint.provider(), (arena, out) -> {
            MemorySegment found = arena.allocate(JAVA_LONG);
            int status = fi_ops_av_set.addr.invoke(its, set.pointer(), found);
            if (status != 0) { return status < 0 ? status : -Errno.EIO; }
            MemorySegment address = fi_collective_addr.allocate(arena);
            fi_collective_addr.set(address, set.pointer());
            fi_collective_addr.coll_addr(address, found.get(JAVA_LONG, 0));
            return fi_ops_cm.join.invoke(function, endpoint.pointer(), address, fabric_h.FI_COLLECTIVE(), out,
                    MemorySegment.NULL);
        });
    }

    /** As in C without FI_CHECK_OP: the table of libfabric 1.17 does not say its size, and has had all entries from the start. */
    private static MemorySegment ofSet(Handle set, long entry) {
        MemorySegment table = fid_av_set.ops(set.pointer().reinterpret(fid_av_set.sizeof()));
        return table.reinterpret(fi_ops_av_set.sizeof()).get(ADDRESS, entry);
    }

    public static long fi_mc_addr(Handle group) { return fid_mc.fi_addr(group.pointer().reinterpret(fid_mc.sizeof())); }
}
