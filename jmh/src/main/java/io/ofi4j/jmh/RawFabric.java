package io.ofi4j.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_av_attr;
import io.ofi4j.bindings.fi_context2;
import io.ofi4j.bindings.fi_cq_attr;
import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fi_ops_fabric;
import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_av;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.bindings.fid_fabric;
import io.ofi4j.bindings.fid_mr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What {@link PublicLayer} opens, opened with the generated bindings alone and with the same hints: the C program's
 * side. Nothing is checked but statuses. The process must have been made safe before: see {@link RawLayer}.
 */
@SuppressWarnings("restricted")
final class RawFabric implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final long NAME_ROOM = 1024;
    /** FI_READ, FI_WRITE and the two FI_REMOTE_ ones: the initiator's rights and the target's. */
    private static final long LOCAL_ACCESS = fabric_h.FI_READ() | fabric_h.FI_WRITE();
    private static final long REMOTE_ACCESS = fabric_h.FI_REMOTE_READ() | fabric_h.FI_REMOTE_WRITE();

    final MemorySegment queue;
    final MemorySegment targetQueue;
    final MemorySegment source;
    final MemorySegment local;
    final MemorySegment descriptor;
    final MemorySegment context;
    final MemorySegment entries;
    final long peer;
    final long remoteAddress;
    final long remoteKey;

    private final Arena arena = Arena.ofShared();
    private final Deque<MemorySegment> opened = new ArrayDeque<>();
    private final MemorySegment info;

    RawFabric(String provider, String node, int threading, long size, int batch) {
        info = getinfo(provider, node, threading);
        MemorySegment fabric = out("fi_fabric",
                at -> fabric_h.fi_fabric(fi_info.fabric_attr(info), at, MemorySegment.NULL));
        MemorySegment domain = out("fi_domain",
                at -> fi_ops_fabric.domain.invoke(
                        function(fabric, fid_fabric.ops$offset(), fi_ops_fabric.domain$offset()), fabric, info, at,
                        MemorySegment.NULL));
        queue = openQueue(domain);
        targetQueue = openQueue(domain);
        MemorySegment vector = openVector(domain);
        source = openEndpoint(domain, vector, queue);
        MemorySegment target = openEndpoint(domain, vector, targetQueue);
        local = arena.allocate(size, PAGE);
        descriptor = fid_mr.mem_desc(register(domain, local, LOCAL_ACCESS, 1));
        MemorySegment remote = arena.allocate(size, PAGE);
        MemorySegment region = register(domain, remote, REMOTE_ACCESS, 2);
        int mode = fi_domain_attr.mr_mode(domainAttributes(info));
        remoteAddress = (mode & fabric_h.FI_MR_VIRT_ADDR()) == 0 ? 0 : remote.address();
        remoteKey = fid_mr.key(region);
        peer = insert(vector, target);
        context = arena.allocate(fi_context2.sizeof(), fi_context2.sizeof());
        entries = arena.allocate(fi_cq_data_entry.sizeof() * batch, 64);
    }

    /** The function behind a call, read from an object's table of operations. */
    static MemorySegment function(MemorySegment object, long tableOffset, long entryOffset) {
        MemorySegment table = object.reinterpret(tableOffset + ADDRESS.byteSize()).get(ADDRESS, tableOffset);
        return table.reinterpret(entryOffset + ADDRESS.byteSize()).get(ADDRESS, entryOffset);
    }

    private MemorySegment getinfo(String provider, String node, int threading) {
        MemorySegment hints = fabric_h.fi_dupinfo(MemorySegment.NULL).reinterpret(fi_info.sizeof());
        fi_info.caps(hints, fabric_h.FI_RMA());
        fi_info.mode(hints, fabric_h.FI_CONTEXT() | fabric_h.FI_CONTEXT2() | fabric_h.FI_RX_CQ_DATA());
        fi_ep_attr.type(fi_info.ep_attr(hints).reinterpret(fi_ep_attr.sizeof()), fabric_h.FI_EP_RDM());
        MemorySegment domain = domainAttributes(hints);
        fi_domain_attr.threading(domain, threading);
        fi_domain_attr.control_progress(domain, fabric_h.FI_PROGRESS_MANUAL());
        fi_domain_attr.data_progress(domain, fabric_h.FI_PROGRESS_MANUAL());
        fi_domain_attr.mr_mode(domain, fabric_h.FI_MR_LOCAL() | fabric_h.FI_MR_VIRT_ADDR() | fabric_h.FI_MR_ALLOCATED()
                | fabric_h.FI_MR_PROV_KEY());
        MemorySegment fabric = fi_info.fabric_attr(hints).reinterpret(fi_fabric_attr.sizeof());
        fi_fabric_attr.prov_name(fabric, arena.allocateFrom(provider));
        int version = Math.min(2 << 16 | 1, fabric_h.fi_version());
        MemorySegment out = arena.allocate(ADDRESS);
        int status = fabric_h.fi_getinfo(version, node == null ? MemorySegment.NULL : arena.allocateFrom(node),
                MemorySegment.NULL, node == null ? 0 : fabric_h.FI_SOURCE(), hints, out);
        fi_fabric_attr.prov_name(fabric, MemorySegment.NULL); // ours, not libfabric's to free
        fabric_h.fi_freeinfo(hints);
        check(status, "fi_getinfo");
        return out.get(ADDRESS, 0).reinterpret(fi_info.sizeof());
    }

    private static MemorySegment domainAttributes(MemorySegment info) {
        return fi_info.domain_attr(info).reinterpret(fi_domain_attr.sizeof());
    }

    private MemorySegment openQueue(MemorySegment domain) {
        MemorySegment attributes = fi_cq_attr.allocate(arena);
        fi_cq_attr.size(attributes, 2048);
        fi_cq_attr.format(attributes, fabric_h.FI_CQ_FORMAT_DATA());
        fi_cq_attr.wait_obj(attributes, fabric_h.FI_WAIT_NONE());
        return out("fi_cq_open",
                at -> fi_ops_domain.cq_open.invoke(
                        function(domain, fid_domain.ops$offset(), fi_ops_domain.cq_open$offset()), domain, attributes,
                        at, MemorySegment.NULL));
    }

    private MemorySegment openVector(MemorySegment domain) {
        MemorySegment attributes = fi_av_attr.allocate(arena);
        int preferred = fi_domain_attr.av_type(domainAttributes(info));
        fi_av_attr.type(attributes, preferred == 0 ? fabric_h.FI_AV_TABLE() : preferred);
        return out("fi_av_open",
                at -> fi_ops_domain.av_open.invoke(
                        function(domain, fid_domain.ops$offset(), fi_ops_domain.av_open$offset()), domain, attributes,
                        at, MemorySegment.NULL));
    }

    private MemorySegment openEndpoint(MemorySegment domain, MemorySegment vector, MemorySegment itsQueue) {
        MemorySegment endpoint = out("fi_endpoint",
                at -> fi_ops_domain.endpoint.invoke(
                        function(domain, fid_domain.ops$offset(), fi_ops_domain.endpoint$offset()), domain, info, at,
                        MemorySegment.NULL));
        MemorySegment bind = function(endpoint, fid.ops$offset(), fi_ops.bind$offset());
        check(fi_ops.bind.invoke(bind, endpoint, vector, 0), "fi_ep_bind");
        long both = fabric_h.FI_TRANSMIT() | fabric_h.FI_RECV();
        check(fi_ops.bind.invoke(bind, endpoint, itsQueue, both), "fi_ep_bind");
        MemorySegment control = function(endpoint, fid.ops$offset(), fi_ops.control$offset());
        check(fi_ops.control.invoke(control, endpoint, fabric_h.FI_ENABLE(), MemorySegment.NULL), "fi_enable");
        return endpoint;
    }

    private MemorySegment register(MemorySegment domain, MemorySegment memory, long access, long key) {
        return out("fi_mr_reg",
                at -> fi_ops_mr.reg.invoke(function(domain, fid_domain.mr$offset(), fi_ops_mr.reg$offset()), domain,
                        memory, memory.byteSize(), access, 0, key, 0, at, MemorySegment.NULL))
                .reinterpret(fid_mr.sizeof());
    }

    private long insert(MemorySegment vector, MemorySegment endpoint) {
        MemorySegment name = arena.allocate(NAME_ROOM, Long.BYTES);
        MemorySegment length = arena.allocateFrom(JAVA_LONG, NAME_ROOM);
        MemorySegment getname = function(endpoint, fid_ep.cm$offset(), fi_ops_cm.getname$offset());
        check(fi_ops_cm.getname.invoke(getname, endpoint, name, length), "fi_getname");
        MemorySegment address = arena.allocate(JAVA_LONG);
        MemorySegment insert = function(vector, fid_av.ops$offset(), fi_ops_av.insert$offset());
        int inserted = fi_ops_av.insert.invoke(insert, vector, name, 1, address, 0, MemorySegment.NULL);
        if (inserted != 1) { throw new IllegalStateException("fi_av_insert gave " + inserted); }
        return address.get(JAVA_LONG, 0);
    }

    private interface Opening {
        int into(MemorySegment out);
    }

    private MemorySegment out(String call, Opening opening) {
        MemorySegment out = arena.allocate(ADDRESS);
        check(opening.into(out), call);
        opened.push(out.get(ADDRESS, 0));
        return opened.peek();
    }

    static void check(long status, String call) {
        if (status != 0) { throw new IllegalStateException(call + " gave " + status); }
    }

    /** Closes everything, the last opened first. */
    @Override
    public void close() {
        for (MemorySegment object : opened) {
            check(fi_ops.close.invoke(function(object, fid.ops$offset(), fi_ops.close$offset()), object), "fi_close");
        }
        fabric_h.fi_freeinfo(info);
        arena.close();
    }
}
