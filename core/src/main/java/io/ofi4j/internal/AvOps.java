package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fid_av;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code struct fi_ops_av}: what an address vector does. */
public final class AvOps {
    private static final long OPS = fid_av.ops$offset();
    /** No provider's address is longer; reading past the caller's bytes stays inside zeroed memory of ours. */
    private static final long ROOM = 1024;

    private AvOps() {
    }

    /** What an insertion of one address gave: how many were inserted, or an error negated, and its fi_addr_t. */
    public record Inserted(int count, long address) {
    }

    public static Inserted fi_av_insert(Handle vector, byte[] address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.insert$offset(), "fi_av_insert");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(Math.max(ROOM, address.length + 1L), Long.BYTES);
            MemorySegment.copy(address, 0, name, JAVA_BYTE, 0, address.length);
            MemorySegment out = arena.allocate(JAVA_LONG);
            int count = fi_ops_av.insert.invoke(function, vector.pointer(), name, 1, out, 0, MemorySegment.NULL);
            return new Inserted(count, out.get(JAVA_LONG, 0));
        }
    }

    public static int fi_av_remove(Handle vector, long address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.remove$offset(), "fi_av_remove");
        try (Arena arena = Arena.ofConfined()) {
            return fi_ops_av.remove.invoke(function, vector.pointer(), arena.allocateFrom(JAVA_LONG, address), 1, 0);
        }
    }

    /** fi_av_straddr: an address as text. */
    public static String fi_av_straddr(Handle vector, byte[] address) {
        MemorySegment function = vector.require(OPS, fi_ops_av.straddr$offset(), "fi_av_straddr");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(Math.max(ROOM, address.length + 1L), Long.BYTES);
            MemorySegment.copy(address, 0, name, JAVA_BYTE, 0, address.length);
            MemorySegment text = arena.allocate(ROOM);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM - 1);
            fi_ops_av.straddr.invoke(function, vector.pointer(), name, text, length);
            return text.getString(0);
        }
    }
}
