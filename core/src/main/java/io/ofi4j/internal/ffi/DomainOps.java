package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_av_attr;
import io.ofi4j.bindings.fi_cntr_attr;
import io.ofi4j.bindings.fi_cq_attr;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fid_domain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_domain}: what a domain opens. */
public final class DomainOps {
    private static final long OPS = fid_domain.ops$offset();

    private DomainOps() {
    }

    /**
     * Opens a completion queue.
     *
     * @param format an {@code enum fi_cq_format}
     * @param waitObject an {@code enum fi_wait_obj}
     * @param signalingVector below 0 where there is none
     */
    public static Opened fi_cq_open(Handle domain, long size, int format, int waitObject, int signalingVector) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.cq_open$offset(), "fi_cq_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_cq_attr.allocate(arena);
            fi_cq_attr.size(attributes, size);
            fi_cq_attr.format(attributes, format);
            fi_cq_attr.wait_obj(attributes, waitObject);
            if (signalingVector >= 0) {
                fi_cq_attr.flags(attributes, fabric_h.FI_AFFINITY());
                fi_cq_attr.signaling_vector(attributes, signalingVector);
            }
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.cq_open.invoke(function, domain.pointer(), attributes, out, MemorySegment.NULL);
            return Opened.of(status, out, domain.provider());
        }
    }

    /** Opens an address vector of the provider's making; see {@link #fi_av_open(Handle, VectorAttributes)}. */
    public static Opened fi_av_open(Handle domain, int type, long count) {
        return fi_av_open(domain, new VectorAttributes(type, count, 0, 0, null, false));
    }

    /**
     * {@code struct fi_av_attr}.
     *
     * @param type an {@code enum fi_av_type}
     * @param count how many addresses are expected; 0 leaves it to the provider
     * @param name null where it is not shared
     */
    public record VectorAttributes(int type, long count, long endpointsPerNode, int receiveContextBits, String name,
            boolean readOnly) {
    }

    public static Opened fi_av_open(Handle domain, VectorAttributes wanted) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.av_open$offset(), "fi_av_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_av_attr.allocate(arena);
            fi_av_attr.type(attributes, wanted.type);
            fi_av_attr.count(attributes, wanted.count);
            fi_av_attr.ep_per_node(attributes, wanted.endpointsPerNode);
            fi_av_attr.rx_ctx_bits(attributes, wanted.receiveContextBits);
            fi_av_attr.name(attributes, wanted.name == null ? MemorySegment.NULL : arena.allocateFrom(wanted.name));
            fi_av_attr.flags(attributes, wanted.readOnly ? FabricConstants.FI_READ : 0);
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.av_open.invoke(function, domain.pointer(), attributes, out, MemorySegment.NULL);
            return Opened.of(status, out, domain.provider());
        }
    }

    /** Opens a counter of completions, with an {@code enum fi_wait_obj}. */
    public static Opened fi_cntr_open(Handle domain, int waitObject) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.cntr_open$offset(), "fi_cntr_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_cntr_attr.allocate(arena);
            fi_cntr_attr.events(attributes, fabric_h.FI_CNTR_EVENTS_COMP());
            fi_cntr_attr.wait_obj(attributes, waitObject);
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.cntr_open.invoke(function, domain.pointer(), attributes, out,
                    MemorySegment.NULL);
            return Opened.of(status, out, domain.provider());
        }
    }

    public static Opened fi_endpoint(Handle domain, InfoHandle info) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.endpoint$offset(), "fi_endpoint");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            // Some providers' first endpoint installs signal handlers.
            int status = SignalGuard.call(() -> fi_ops_domain.endpoint.invoke(function, domain.pointer(),
                    info.pointer(), out, MemorySegment.NULL));
            return Opened.of(status, out, domain.provider());
        }
    }
}
