package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Errno;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_av_attr;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_mr_attr;
import io.ofi4j.bindings.fi_mr_map_raw;
import io.ofi4j.bindings.fi_mr_modify;
import io.ofi4j.bindings.fi_mr_raw_attr;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_atomic;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fi_ops_cntr;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_av;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.bindings.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes objects of a real provider answer what no provider of Debian does: an info that demands more of registrations,
 * and regions and domains whose {@code struct fi_ops} is the test's. What was called is noted in {@link #calls}.
 */
@SuppressWarnings("restricted")
public final class Forged {
    public static final long RAW_BASE = 0x4000;
    public static final long MAPPED_KEY = 0x77;

    public final List<String> calls = new ArrayList<>();
    private final Arena arena = Arena.ofAuto();
    private final byte[] rawKey;

    /** @param rawKey what regions answer when they are asked for theirs */
    public Forged(byte[] rawKey) {
        this.rawKey = rawKey;
    }

    /** A copy that demands these mr_mode bits, too. */
    public static InfoHandle demanding(InfoHandle info, int bits) {
        InfoHandle copy = InfoHandle.copyOf(info.pointer());
        fi_domain_attr.mr_mode(copy.domain(), fi_domain_attr.mr_mode(copy.domain()) | bits);
        return copy;
    }

    /** A copy that demands a mode of fi_getinfo(3). */
    public static InfoHandle withMode(InfoHandle info, long mode) {
        InfoHandle copy = InfoHandle.copyOf(info.pointer());
        fi_info.mode(copy.pointer(), fi_info.mode(copy.pointer()) | mode);
        return copy;
    }

    /** Has a domain register with fi_mr_regattr only: its other functions are missing, or answer ENOSYS. */
    public void restrictToRegattr(Handle domain, boolean isMissing) {
        MemorySegment table = patch(domain, fid_domain.mr$offset());
        fi_ops_mr.reg(table,
                isMissing
                        ? MemorySegment.NULL
                        : fi_ops_mr.reg.allocate(
                                (fid, buffer, length, access, offset, key, flags, out, context) -> noCall("reg"),
                                arena));
        fi_ops_mr
                .regv(table,
                        isMissing
                                ? MemorySegment.NULL
                                : fi_ops_mr.regv.allocate(
                                        (fid, iov, count, access, offset, key, flags, out, context) -> noCall("regv"),
                                        arena));
    }

    private int noCall(String call) {
        calls.add(call);
        return -Errno.ENOSYS;
    }

    /** Notes which datatypes an endpoint is asked about, each as "datatype " and its number. */
    public void noteDatatypes(Handle endpoint) {
        MemorySegment table = patch(endpoint, fid_ep.atomic$offset());
        MemorySegment note = fi_ops_atomic.writevalid.allocate((fid, datatype, operation, count) -> {
            calls.add("datatype " + datatype);
            return -Errno.EOPNOTSUPP;
        }, arena);
        fi_ops_atomic.writevalid(table, note);
        fi_ops_atomic.readwritevalid(table, note);
        fi_ops_atomic.compwritevalid(table, note);
    }

    /** Notes the type of each address vector: what is asked for, and what the provider makes of it. */
    public void noteVectorTypes(Handle domain) {
        MemorySegment table = patch(domain, fid_domain.ops$offset());
        MemorySegment open = fi_ops_domain.av_open(table);
        fi_ops_domain.av_open(table, fi_ops_domain.av_open.allocate((fid, attributes, out, context) -> {
            MemorySegment its = attributes.reinterpret(fi_av_attr.sizeof());
            int asked = fi_av_attr.type(its);
            int status = fi_ops_domain.av_open.invoke(open, fid, attributes, out, context);
            calls.add("vector " + asked + " opened as " + fi_av_attr.type(its));
            return status;
        }, arena));
    }

    /** Has an address vector insert only without flags, and answer anything else with this status. */
    public void insertOnlyWithoutFlags(Handle vector, int status) {
        MemorySegment table = patch(vector, fid_av.ops$offset());
        MemorySegment insert = fi_ops_av.insert(table);
        fi_ops_av
                .insert(table,
                        fi_ops_av.insert.allocate(
                                (fid, addresses, count, out, flags, context) -> flags != 0
                                        ? status
                                        : fi_ops_av.insert.invoke(insert, fid, addresses, count, out, flags, context),
                                arena));
    }

    /** Has an address vector insert nothing, and say why to those who ask for errors. */
    public void insertNothing(Handle vector, int error) {
        MemorySegment table = patch(vector, fid_av.ops$offset());
        fi_ops_av.insert(table, fi_ops_av.insert.allocate((fid, addresses, count, out, flags, context) -> {
            if (flags != 0) { context.reinterpret(Integer.BYTES).set(JAVA_INT, 0, error); }
            return 0;
        }, arena));
    }

    /** Gives an object a copy of one of its tables, which providers share. */
    private MemorySegment patch(Handle object, long pointer) {
        MemorySegment self = object.pointer().reinterpret(pointer + ADDRESS.byteSize());
        MemorySegment shared = self.get(ADDRESS, pointer);
        long size = shared.reinterpret(Long.BYTES).get(JAVA_LONG, 0); // every table begins with its size
        MemorySegment copy = arena.allocate(size, Long.BYTES).copyFrom(shared.reinterpret(size));
        self.set(ADDRESS, pointer, copy);
        return copy;
    }

    /** The value of a counter. */
    public static long fi_cntr_read(Handle counter) {
        return fi_ops_cntr.read.invoke(InlineFunction.fi_cntr_read.of(counter), counter.pointer());
    }

    /** Replaces an object's ops: bind and control succeed, close does what it did. */
    public void patch(Handle object) {
        MemorySegment self = object.pointer().reinterpret(fid.sizeof());
        MemorySegment close = InlineFunction.fi_close.find(object);
        MemorySegment ops = fi_ops.allocate(arena);
        fi_ops.size(ops, fi_ops.sizeof());
        fi_ops.close(ops, fi_ops.close.allocate(pointer -> {
            calls.add("close");
            return fi_ops.close.invoke(close, pointer);
        }, arena));
        fi_ops.bind(ops, fi_ops.bind.allocate((pointer, other, flags) -> {
            calls.add("bind " + flags);
            return 0;
        }, arena));
        fi_ops.control(ops, fi_ops.control.allocate((pointer, command, argument) -> control(command, argument), arena));
        fid.ops(self, ops);
    }

    private int control(int command, MemorySegment argument) {
        if (command == fabric_h.FI_ENABLE()) {
            calls.add("enable");
        } else if (command == fabric_h.FI_GET_RAW_MR()) {
            return raw(argument.reinterpret(fi_mr_raw_attr.sizeof()));
        } else if (command == fabric_h.FI_MAP_RAW_MR()) {
            MemorySegment map = argument.reinterpret(fi_mr_map_raw.sizeof());
            calls.add("map " + fi_mr_map_raw.base_addr(map) + " " + fi_mr_map_raw.key_size(map) + " "
                    + fi_mr_map_raw.raw_key(map).reinterpret(1).get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
            fi_mr_map_raw.key(map).reinterpret(Long.BYTES).set(JAVA_LONG, 0, MAPPED_KEY);
        } else if (command == fabric_h.FI_UNMAP_KEY()) {
            calls.add("unmap " + argument.reinterpret(Long.BYTES).get(JAVA_LONG, 0));
        } else if (command == fabric_h.FI_REFRESH()) {
            MemorySegment attributes = fi_mr_modify.attr(argument.reinterpret(fi_mr_modify.sizeof()));
            long count = fi_mr_attr.iov_count(attributes);
            MemorySegment first = fi_mr_attr.mr_iov(attributes).reinterpret(iovec.sizeof());
            calls.add("refresh " + count + " " + iovec.iov_base(first).address() + " " + iovec.iov_len(first));
        }
        return 0;
    }

    private int raw(MemorySegment attributes) {
        MemorySegment size = fi_mr_raw_attr.key_size(attributes).reinterpret(Long.BYTES);
        long capacity = size.get(JAVA_LONG, 0);
        calls.add("raw " + capacity);
        size.set(JAVA_LONG, 0, rawKey.length);
        if (capacity < rawKey.length) { return -Errno.ETOOSMALL; }
        fi_mr_raw_attr.base_addr(attributes).reinterpret(Long.BYTES).set(JAVA_LONG, 0, RAW_BASE);
        fi_mr_raw_attr.raw_key(attributes).reinterpret(rawKey.length).copyFrom(MemorySegment.ofArray(rawKey));
        return 0;
    }
}
