package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_atomic_attr;
import io.ofi4j.bindings.fi_av_attr;
import io.ofi4j.bindings.fi_cntr_attr;
import io.ofi4j.bindings.fi_cq_attr;
import io.ofi4j.bindings.fi_ops_domain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_domain}: opens the objects of a domain. */
public final class DomainOps {
    /**
     * format is an {@code enum fi_cq_format}, waitObject an {@code enum fi_wait_obj}; a signaling vector below 0 is
     * none.
     */
    public static OpenResult fi_cq_open(Handle domain, long size, int format, int waitObject, int signalingVector) {
        return OpenResult.of(domain.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_cq_attr.layout());
            fi_cq_attr.size(attributes, size);
            fi_cq_attr.format(attributes, format);
            fi_cq_attr.wait_obj(attributes, waitObject);
            if (signalingVector >= 0) {
                fi_cq_attr.flags(attributes, fabric_h.FI_AFFINITY());
                fi_cq_attr.signaling_vector(attributes, signalingVector);
            }
            return Downcalls.callForInt(fi_cq_open.of(domain), domain.pointer(), attributes, out, MemorySegment.NULL);
        });
    }

    public static OpenResult fi_av_open(Handle domain, int type, long count) {
        return fi_av_open(domain, new VectorAttributes(type, count, 0, 0, null, false, false)).result;
    }

    /**
     * {@code struct fi_av_attr}: an {@code enum fi_av_type}, the expected number of addresses (0: the provider's
     * choice), and a name or null.
     */
    public record VectorAttributes(int type, long count, long endpointsPerNode, int receiveContextBits, String name,
            boolean readOnly, boolean symmetric) {}

    /** The vector and its {@code enum fi_av_type}. If none was requested, the type is what the provider reports. */
    public record OpenedVector(OpenResult result, int type) {}

    public static OpenedVector fi_av_open(Handle domain, VectorAttributes wanted) {
        int[] type = {wanted.type};
        OpenResult result = OpenResult.of(domain.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_av_attr.layout());
            fi_av_attr.type(attributes, wanted.type);
            fi_av_attr.count(attributes, wanted.count);
            fi_av_attr.ep_per_node(attributes, wanted.endpointsPerNode);
            fi_av_attr.rx_ctx_bits(attributes, wanted.receiveContextBits);
            fi_av_attr.name(attributes, wanted.name == null ? MemorySegment.NULL : arena.allocateFrom(wanted.name));
            fi_av_attr.flags(attributes,
                    (wanted.readOnly ? FabricConstants.FI_READ : 0) | (wanted.symmetric ? fabric_h.FI_SYMMETRIC() : 0));
            int status = Downcalls.callForInt(fi_av_open.of(domain), domain.pointer(), attributes, out,
                    MemorySegment.NULL);
            type[0] = fi_av_attr.type(attributes);
            return status;
        });
        return new OpenedVector(result, type[0]);
    }

    /** Counts completions; waitObject is an {@code enum fi_wait_obj}. */
    public static OpenResult fi_cntr_open(Handle domain, int waitObject) {
        return fi_cntr_open(domain, waitObject, false);
    }

    /** Counts completions, or their bytes. */
    public static OpenResult fi_cntr_open(Handle domain, int waitObject, boolean bytes) {
        return OpenResult.of(domain.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_cntr_attr.layout());
            fi_cntr_attr.events(attributes, bytes ? fabric_h.FI_CNTR_EVENTS_BYTES() : fabric_h.FI_CNTR_EVENTS_COMP());
            fi_cntr_attr.wait_obj(attributes, waitObject);
            return Downcalls.callForInt(fi_cntr_open.of(domain), domain.pointer(), attributes, out, MemorySegment.NULL);
        });
    }

    /**
     * fi_query_atomic: the largest number of elements of one operation, or 0 if the provider does not have it. The
     * flags are 0, FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC.
     */
    public static long fi_query_atomic(Handle domain, int datatype, int operation, long flags) {
        MemorySegment function = fi_query_atomic.find(domain);
        if (function == null || !FabricCalls.isDatatype(datatype)) { return 0; }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_atomic_attr.layout());
            int status = Downcalls.callForInt(function, domain.pointer(), datatype, operation, attributes, flags);
            return status == 0 ? fi_atomic_attr.count(attributes) : 0;
        }
    }

    public static long fetchAtomic() { return fabric_h.FI_FETCH_ATOMIC(); }

    public static long compareAtomic() { return fabric_h.FI_COMPARE_ATOMIC(); }

    /** A context that receives for several endpoints. */
    public static OpenResult fi_srx_context(Handle domain, InfoHandle info) {
        return OpenResult.of(domain.provider(), (arena, out) -> Downcalls.callForInt(fi_srx_context.of(domain),
                domain.pointer(), info.receive(), out, MemorySegment.NULL));
    }

    /** A context that transmits for several endpoints. */
    public static OpenResult fi_stx_context(Handle domain, InfoHandle info) {
        return OpenResult.of(domain.provider(), (arena, out) -> Downcalls.callForInt(fi_stx_context.of(domain),
                domain.pointer(), info.transmit(), out, MemorySegment.NULL));
    }

    /** An endpoint of several contexts. */
    public static OpenResult fi_scalable_ep(Handle domain, InfoHandle info) {
        return OpenResult.of(domain.provider(), (arena, out) -> SignalGuard.call(() -> Downcalls
                .callForInt(fi_scalable_ep.of(domain), domain.pointer(), info.pointer(), out, MemorySegment.NULL)));
    }

    public static OpenResult fi_endpoint(Handle domain, InfoHandle info) {
        // Some providers' first endpoint installs signal handlers.
        return OpenResult.of(domain.provider(), (arena, out) -> SignalGuard.call(() -> Downcalls
                .callForInt(fi_endpoint.of(domain), domain.pointer(), info.pointer(), out, MemorySegment.NULL)));
    }
}
