package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.os.Downcalls.call;
import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_av_set_attr;
import io.ofi4j.bindings.fi_collective_addr;
import io.ofi4j.bindings.fi_collective_attr;
import io.ofi4j.bindings.fid_mc;
import io.ofi4j.internal.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code struct fi_ops_collective} of one endpoint, and what fi_collective(3) has beside it. Made after fi_enable.
 * datatype is an {@code enum fi_datatype}, operation an {@code enum fi_op}. The calls allocate: none is critical.
 */
@SuppressWarnings("restricted")
public final class CollectiveOps {
    private final long endpoint;
    private final MemorySegment barrier;
    private final MemorySegment broadcast;
    private final MemorySegment allreduce;
    private final MemorySegment allgather;
    private final MemorySegment scatter;

    public CollectiveOps(Handle endpoint) {
        this.endpoint = endpoint.address();
        this.barrier = fi_barrier.of(endpoint);
        this.broadcast = fi_broadcast.of(endpoint);
        this.allreduce = fi_allreduce.of(endpoint);
        this.allgather = fi_allgather.of(endpoint);
        this.scatter = fi_scatter.of(endpoint);
    }

    public long fi_barrier(long group, long context) { return call(false, barrier, endpoint, group, context); }

    public long fi_broadcast(long buffer, long count, long descriptor, long group, long root, int datatype,
            long context) {
        return call(false, broadcast, endpoint, buffer, count, descriptor, group, root, datatype, 0, context);
    }

    public long fi_allreduce(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            int datatype, int operation, long context) {
        return call(false, allreduce, endpoint, buffer, count, descriptor, result, resultDescriptor, group, datatype,
                operation, 0, context);
    }

    public long fi_allgather(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            int datatype, long context) {
        return call(false, allgather, endpoint, buffer, count, descriptor, result, resultDescriptor, group, datatype, 0,
                context);
    }

    public long fi_scatter(long buffer, long count, long descriptor, long result, long resultDescriptor, long group,
            long root, int datatype, long context) {
        return call(false, scatter, endpoint, buffer, count, descriptor, result, resultDescriptor, group, root,
                datatype, 0, context);
    }

    /**
     * The largest number of members, or 0 if the provider does not have it; kind is an {@code enum fi_collective_op}.
     */
    public static long fi_query_collective(Handle domain, int kind, int operation, int datatype) {
        MemorySegment function = fi_query_collective.find(domain);
        if (function == null || !FabricCalls.isDatatype(datatype)) { return 0; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_collective_attr.layout());
            fi_collective_attr.op(attributes, operation);
            fi_collective_attr.datatype(attributes, datatype);
            int status = Downcalls.callForInt(function, domain.pointer(), kind, attributes, 0);
            return status == 0 ? fi_collective_attr.max_members(attributes) : 0;
        }
    }

    /**
     * An empty set with room for this number of addresses: the end of its range is before the start. FI_ADDR_NOTAVAIL,
     * which means an empty set since 2.0, is an address for libfabric 1.17.
     */
    public static OpenResult fi_av_set(Handle vector, long count) {
        return OpenResult.of(vector.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_av_set_attr.layout());
            fi_av_set_attr.count(attributes, count);
            fi_av_set_attr.start_addr(attributes, 1);
            fi_av_set_attr.end_addr(attributes, 0);
            fi_av_set_attr.stride(attributes, 1);
            return Downcalls.callForInt(fi_av_set.of(vector), vector.pointer(), attributes, out, MemorySegment.NULL);
        });
    }

    public static int fi_av_set_insert(Handle set, long address) {
        return Downcalls.callForInt(fi_av_set_insert.unchecked(set), set.pointer(), address);
    }

    /** Passes the address of the set itself. Without it, some versions use a default set that they have not created. */
    public static OpenResult fi_join_collective(Handle endpoint, Handle set) {
        MemorySegment addressOfSet = fi_av_set_addr.unchecked(set);
        return OpenResult.of(endpoint.provider(), (arena, out) -> {
            MemorySegment found = arena.allocate(JAVA_LONG);
            int status = Downcalls.callForInt(addressOfSet, set.pointer(), found);
            if (status != 0) { return status < 0 ? status : -Errno.EIO; }
            MemorySegment address = OwnedStruct.allocate(arena, fi_collective_addr.layout());
            fi_collective_addr.set(address, set.pointer());
            fi_collective_addr.coll_addr(address, found.get(JAVA_LONG, 0));
            return Downcalls.callForInt(fi_join_collective.of(endpoint), endpoint.pointer(), address,
                    fabric_h.FI_COLLECTIVE(), out, MemorySegment.NULL);
        });
    }

    public static long fi_mc_addr(Handle group) { return fid_mc.fi_addr(group.pointer().reinterpret(fid_mc.sizeof())); }
}
