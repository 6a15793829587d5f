package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_mr_attr;
import io.ofi4j.bindings.fi_mr_dmabuf;
import io.ofi4j.bindings.fi_mr_map_raw;
import io.ofi4j.bindings.fi_mr_modify;
import io.ofi4j.bindings.fi_mr_raw_attr;
import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fid_mr;
import io.ofi4j.bindings.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** {@code struct fi_ops_mr}, fields of {@code struct fid_mr}, and fi_control of regions. */
public final class MrOps {
    /** Larger than most raw keys; a larger one is asked for again. */
    private static final int RAW_KEY_SIZE = 256;

    /** The status is -FI_ENOSYS also if the provider lacks the function; it may have fi_mr_regattr. */
    public static OpenResult fi_mr_reg(Handle domain, MemorySegment memory, long access, long requestedKey,
            long flags) {
        if (fi_mr_reg.find(domain) == null) { return new OpenResult(-Errno.ENOSYS, null); }
        return OpenResult.of(domain.provider(), (arena, out) -> Downcalls.callForInt(fi_mr_reg.of(domain),
                domain.pointer(), memory, memory.byteSize(), access, 0, requestedKey, flags, out, MemorySegment.NULL));
    }

    public static OpenResult fi_mr_regv(Handle domain, List<MemorySegment> segments, long access, long requestedKey,
            long flags) {
        if (fi_mr_regv.find(domain) == null) { return new OpenResult(-Errno.ENOSYS, null); }
        return OpenResult.of(domain.provider(),
                (arena, out) -> Downcalls.callForInt(fi_mr_regv.of(domain), domain.pointer(), vector(segments, arena),
                        segments.size(), access, 0, requestedKey, flags, out, MemorySegment.NULL));
    }

    public static OpenResult fi_mr_regattr(Handle domain, List<MemorySegment> segments, long access, long requestedKey,
            long flags) {
        return OpenResult.of(domain.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_mr_attr.layout()); // the rest stays 0
            fi_mr_attr.mr_iov(attributes, vector(segments, arena));
            fi_mr_attr.iov_count(attributes, segments.size());
            fi_mr_attr.access(attributes, access);
            fi_mr_attr.requested_key(attributes, requestedKey);
            return Downcalls.callForInt(fi_mr_regattr.of(domain), domain.pointer(), attributes, flags, out);
        });
    }

    /** Memory of a device: an {@code enum fi_hmem_iface}, the device's number, and where the memory is. */
    public record DeviceMemory(int iface, int number, MemorySegment begin, long length) {}

    /** A DMA-buf: its descriptor, and where in it the memory begins. */
    public record DmaBuf(int descriptor, long offset) {}

    /** @param exported the DMA-buf that the memory is a part of, or null */
    public static OpenResult fi_mr_regattr(Handle domain, DeviceMemory memory, DmaBuf exported, long access,
            long requestedKey, long flags) {
        return OpenResult.of(domain.provider(), (arena, out) -> {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_mr_attr.layout()); // the rest stays 0
            if (exported == null) {
                fi_mr_attr.mr_iov(attributes, vector(memory, arena));
            } else {
                fi_mr_attr.dmabuf(attributes, part(exported, memory, arena)); // a union with mr_iov
            }
            fi_mr_attr.iov_count(attributes, 1);
            fi_mr_attr.access(attributes, access);
            fi_mr_attr.requested_key(attributes, requestedKey);
            fi_mr_attr.iface(attributes, memory.iface);
            fi_mr_attr.device(attributes).set(JAVA_LONG, 0, memory.number); // a union, whose first bytes count
            return Downcalls.callForInt(fi_mr_regattr.of(domain), domain.pointer(), attributes,
                    exported == null ? flags : flags | fabric_h.FI_MR_DMABUF(), out);
        });
    }

    private static MemorySegment vector(DeviceMemory memory, Arena arena) {
        MemorySegment vector = iovec.allocate(arena);
        iovec.iov_base(vector, memory.begin);
        iovec.iov_len(vector, memory.length);
        return vector;
    }

    /** The base is where the DMA-buf begins, and the offset is added to it. */
    private static MemorySegment part(DmaBuf exported, DeviceMemory memory, Arena arena) {
        MemorySegment part = OwnedStruct.allocate(arena, fi_mr_dmabuf.layout());
        fi_mr_dmabuf.fd(part, exported.descriptor);
        fi_mr_dmabuf.offset(part, exported.offset);
        fi_mr_dmabuf.len(part, memory.length);
        fi_mr_dmabuf.base_addr(part, MemorySegment.ofAddress(memory.begin.address() - exported.offset));
        return part;
    }

    private static MemorySegment vector(List<MemorySegment> segments, Arena arena) {
        MemorySegment vector = iovec.allocateArray(segments.size(), arena);
        for (int i = 0; i < segments.size(); i++) {
            MemorySegment one = iovec.asSlice(vector, i);
            iovec.iov_base(one, segments.get(i));
            iovec.iov_len(one, segments.get(i).byteSize());
        }
        return vector;
    }

    public static long fi_mr_desc(Handle region) { return NativeWords.get(region.address(), fid_mr.mem_desc$offset()); }

    public static long fi_mr_key(Handle region) { return NativeWords.get(region.address(), fid_mr.key$offset()); }

    /** Tells the provider that other pages are behind these addresses. */
    public static int fi_mr_refresh(Handle region, List<MemorySegment> ranges) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment modify = OwnedStruct.allocate(arena, fi_mr_modify.layout());
            MemorySegment attributes = fi_mr_modify.attr(modify);
            fi_mr_attr.mr_iov(attributes, vector(ranges, arena));
            fi_mr_attr.iov_count(attributes, ranges.size());
            return FidOps.control(region, fabric_h.FI_REFRESH(), modify, "fi_mr_refresh");
        }
    }

    /** The status, and base address and key if it is 0. */
    public record Raw(int status, long base, byte[] key) {}

    public static Raw fi_mr_raw_attr(Handle region) {
        try (Arena arena = Arena.ofConfined()) {
            Raw small = fi_mr_raw_attr(region, RAW_KEY_SIZE, arena);
            return small.status == -Errno.ETOOSMALL && small.base > RAW_KEY_SIZE && small.base <= Short.MAX_VALUE
                    ? fi_mr_raw_attr(region, (int) small.base, arena)
                    : small;
        }
    }

    /** With status -FI_ETOOSMALL, the base is the needed size. */
    private static Raw fi_mr_raw_attr(Handle region, int capacity, Arena arena) {
        MemorySegment base = arena.allocate(JAVA_LONG);
        MemorySegment key = arena.allocate(capacity);
        MemorySegment size = arena.allocateFrom(JAVA_LONG, capacity);
        MemorySegment attributes = OwnedStruct.allocate(arena, fi_mr_raw_attr.layout());
        fi_mr_raw_attr.base_addr(attributes, base);
        fi_mr_raw_attr.raw_key(attributes, key);
        fi_mr_raw_attr.key_size(attributes, size);
        int status = FidOps.control(region, fabric_h.FI_GET_RAW_MR(), attributes, "fi_mr_raw_attr");
        long length = size.get(JAVA_LONG, 0);
        if (status == -Errno.ETOOSMALL || status == 0 && length > capacity) {
            return new Raw(-Errno.ETOOSMALL, length, new byte[0]);
        }
        return new Raw(status, base.get(JAVA_LONG, 0),
                status == 0 ? key.asSlice(0, length).toArray(JAVA_BYTE) : new byte[0]);
    }

    /** The status, and the key for operations if it is 0. */
    public record Mapped(int status, long key) {}

    public static Mapped fi_mr_map_raw(Handle domain, long base, byte[] rawKey) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(JAVA_LONG);
            MemorySegment map = OwnedStruct.allocate(arena, fi_mr_map_raw.layout());
            fi_mr_map_raw.base_addr(map, base);
            fi_mr_map_raw.raw_key(map, arena.allocateFrom(JAVA_BYTE, rawKey));
            fi_mr_map_raw.key_size(map, rawKey.length);
            fi_mr_map_raw.key(map, key);
            return new Mapped(FidOps.control(domain, fabric_h.FI_MAP_RAW_MR(), map, "fi_mr_map_raw"),
                    key.get(JAVA_LONG, 0));
        }
    }

    public static int fi_mr_unmap_key(Handle domain, long key) {
        try (Arena arena = Arena.ofConfined()) {
            return FidOps.control(domain, fabric_h.FI_UNMAP_KEY(), arena.allocateFrom(JAVA_LONG, key),
                    "fi_mr_unmap_key");
        }
    }
}
