package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;

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

    /** Opens a queue whose entries are {@code struct fi_cq_data_entry}, without a wait object. */
    public static Out fi_cq_open(Handle domain, long size) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.cq_open$offset(), "fi_cq_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_cq_attr.allocate(arena);
            fi_cq_attr.size(attributes, size);
            fi_cq_attr.format(attributes, fabric_h.FI_CQ_FORMAT_DATA());
            fi_cq_attr.wait_obj(attributes, fabric_h.FI_WAIT_NONE());
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.cq_open.invoke(function, domain.pointer(), attributes, out, MemorySegment.NULL);
            return Out.of(status, out, domain.provider());
        }
    }

    /**
     * Opens an address vector.
     *
     * @param type an {@code enum fi_av_type}
     * @param count how many addresses are expected; 0 leaves it to the provider
     */
    public static Out fi_av_open(Handle domain, int type, long count) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.av_open$offset(), "fi_av_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_av_attr.allocate(arena);
            fi_av_attr.type(attributes, type);
            fi_av_attr.count(attributes, count);
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.av_open.invoke(function, domain.pointer(), attributes, out, MemorySegment.NULL);
            return Out.of(status, out, domain.provider());
        }
    }

    /** Opens a counter of completions without a wait object. */
    public static Out fi_cntr_open(Handle domain) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.cntr_open$offset(), "fi_cntr_open");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = fi_cntr_attr.allocate(arena);
            fi_cntr_attr.events(attributes, fabric_h.FI_CNTR_EVENTS_COMP());
            fi_cntr_attr.wait_obj(attributes, fabric_h.FI_WAIT_NONE());
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops_domain.cntr_open.invoke(function, domain.pointer(), attributes, out,
                    MemorySegment.NULL);
            return Out.of(status, out, domain.provider());
        }
    }

    public static Out fi_endpoint(Handle domain, InfoHandle info) {
        MemorySegment function = domain.require(OPS, fi_ops_domain.endpoint$offset(), "fi_endpoint");
        if (domain.provider().contains("shm")) {
            AbandonedShmFiles.sweep();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            // The shm provider's first endpoint installs signal handlers that unlink every endpoint on a SIGSEGV.
            int status = SignalGuard.call(() -> fi_ops_domain.endpoint.invoke(function, domain.pointer(),
                    info.pointer(), out, MemorySegment.NULL));
            return Out.of(status, out, domain.provider());
        }
    }
}
