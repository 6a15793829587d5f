package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Errno;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fid_av;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** {@code struct fi_ops_av}: what an address vector does. */
public final class AvOps {
    private static final long OPS = fid_av.ops$offset();
    /** No provider's address is longer; reading past the caller's bytes stays inside zeroed memory of ours. */
    private static final int ROOM = 1024;

    private AvOps() {
    }

    /**
     * What an insertion gave: how many were inserted by the provider's count, or an error negated, and the outcome of each.
     *
     * @param addresses the fi_addr_t of each, or FI_ADDR_NOTAVAIL
     * @param errors the error number of each, where the provider tells
     */
    public record Inserted(int status, long[] addresses, int[] errors) {
        /** Whether that address is in the vector: some providers count wrongly, some give no number. */
        public boolean has(int index) {
            return status > 0 && addresses[index] != FabricConstants.FI_ADDR_NOTAVAIL && errors[index] == 0;
        }

        /** The error number of an address that was not inserted. */
        public int error(int index) {
            return status < 0 ? -status : errors[index] > 0 ? errors[index] : Errno.EADDRNOTAVAIL;
        }
    }

    /** One of the three insertions. */
    private interface Call {
        int insert(MemorySegment addresses, long flags, MemorySegment errors);
    }

    /** fi_av_insert of addresses that all have the same length. */
    public static Inserted fi_av_insert(Handle vector, List<byte[]> addresses) {
        MemorySegment function = vector.require(OPS, fi_ops_av.insert$offset(), "fi_av_insert");
        try (Arena arena = Arena.ofConfined()) {
            long each = addresses.getFirst().length;
            MemorySegment names = arena.allocate(each * addresses.size() + ROOM, Long.BYTES);
            for (int i = 0; i < addresses.size(); i++) {
                MemorySegment.copy(addresses.get(i), 0, names, JAVA_BYTE, i * each, (int) each);
            }
            return insert(arena, addresses.size(), (out, flags, errors) -> fi_ops_av.insert.invoke(function,
                    vector.pointer(), names, addresses.size(), out, flags, errors));
        }
    }

    /** fi_av_insertsvc; may ask a name server. */
    public static Inserted fi_av_insertsvc(Handle vector, String node, String service) {
        MemorySegment function = vector.require(OPS, fi_ops_av.insertsvc$offset(), "fi_av_insertsvc");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment nodeText = arena.allocateFrom(node);
            MemorySegment serviceText = arena.allocateFrom(service);
            return insert(arena, 1, (out, flags, errors) -> fi_ops_av.insertsvc.invoke(function, vector.pointer(),
                    nodeText, serviceText, out, flags, errors));
        }
    }

    /** fi_av_insertsym. */
    public static Inserted fi_av_insertsym(Handle vector, String node, int nodes, String service, int services) {
        MemorySegment function = vector.require(OPS, fi_ops_av.insertsym$offset(), "fi_av_insertsym");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment nodeText = arena.allocateFrom(node);
            MemorySegment serviceText = arena.allocateFrom(service);
            return insert(arena, nodes * services, (out, flags, errors) -> fi_ops_av.insertsym.invoke(function,
                    vector.pointer(), nodeText, nodes, serviceText, services, out, flags, errors));
        }
    }

    /** Asks for the error of each address, and for less where the provider does not tell. */
    private static Inserted insert(Arena arena, int count, Call call) {
        MemorySegment addresses = arena.allocate(JAVA_LONG, count).fill((byte) FabricConstants.FI_ADDR_NOTAVAIL);
        MemorySegment errors = arena.allocate(JAVA_INT, count);
        int status = call.insert(addresses, fabric_h.FI_SYNC_ERR(), errors);
        if (status == -Errno.EBADFLAGS || status == -Errno.EINVAL) {
            addresses.fill((byte) FabricConstants.FI_ADDR_NOTAVAIL);
            errors.fill((byte) 0);
            status = call.insert(addresses, 0, MemorySegment.NULL);
        }
        return new Inserted(status, addresses.toArray(JAVA_LONG), errors.toArray(JAVA_INT));
    }

    public static int fi_av_remove(Handle vector, long address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.remove$offset(), "fi_av_remove");
        try (Arena arena = Arena.ofConfined()) {
            return fi_ops_av.remove.invoke(function, vector.pointer(), arena.allocateFrom(JAVA_LONG, address), 1, 0);
        }
    }

    /** What fi_av_lookup gave: its status, and the address where the status is 0. */
    public record Found(int status, byte[] address) {
    }

    /** fi_av_lookup of an address that is in the vector: providers do not check. */
    public static Found fi_av_lookup(Handle vector, long address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.lookup$offset(), "fi_av_lookup");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(ROOM, Long.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM);
            int status = fi_ops_av.lookup.invoke(function, vector.pointer(), address, name, length);
            long size = length.get(JAVA_LONG, 0);
            if (status == 0 && (size < 1 || size > ROOM)) {
                return new Found(-Errno.EMSGSIZE, null);
            }
            return new Found(status, status != 0 ? null : name.asSlice(0, size).toArray(JAVA_BYTE));
        }
    }

    /** fi_av_straddr: an address as text. */
    public static String fi_av_straddr(Handle vector, byte[] address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.straddr$offset(), "fi_av_straddr");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(Math.max(ROOM, address.length + 1L), Long.BYTES);
            MemorySegment.copy(address, 0, name, JAVA_BYTE, 0, address.length);
            MemorySegment text = arena.allocate(ROOM);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM - 1L);
            fi_ops_av.straddr.invoke(function, vector.pointer(), name, text, length);
            return text.getString(0);
        }
    }
}
