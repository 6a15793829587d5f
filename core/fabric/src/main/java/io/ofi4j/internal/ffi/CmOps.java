package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.internal.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code struct fi_ops_cm}: names, connections and multicast groups. The structs of active and passive endpoints begin
 * with the same fields.
 */
public final class CmOps {
    private static final int ROOM = 1024;
    /** The longest address; a provider that reports a larger size is not believed. */
    static final int MAX_ROOM = 1 << 16;

    /** The status, and the address if it is 0. */
    public record Name(int status, byte[] address) {}

    public static Name fi_getname(Handle endpoint) { return name(endpoint, fi_getname.of(endpoint)); }

    /** The address must have the endpoint's format. */
    public static int fi_setname(Handle endpoint, byte[] address) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_setname.of(endpoint), endpoint.pointer(), name(arena, address),
                    address.length);
        }
    }

    public static Name fi_getpeer(Handle endpoint) { return name(endpoint, fi_getpeer.of(endpoint)); }

    /** Asks for the size first: a provider that gets more room than it needs may leave the length unchanged. */
    private static Name name(Handle endpoint, MemorySegment function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment length = arena.allocate(JAVA_LONG);
            int status = Downcalls.callForInt(function, endpoint.pointer(), arena.allocate(ROOM, Long.BYTES), length);
            long size = length.get(JAVA_LONG, 0);
            long room = status == -Errno.ETOOSMALL && size > 0 && size <= MAX_ROOM ? size : ROOM;
            MemorySegment name = arena.allocate(Math.max(ROOM, room), Long.BYTES);
            length.set(JAVA_LONG, 0, room);
            status = Downcalls.callForInt(function, endpoint.pointer(), name, length);
            if (status != 0) { return new Name(status, null); }
            return new Name(0, name.asSlice(0, Math.min(room, length.get(JAVA_LONG, 0))).toArray(JAVA_BYTE));
        }
    }

    public static int fi_connect(Handle endpoint, byte[] address, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_connect.of(endpoint), endpoint.pointer(), name(arena, address),
                    data(arena, data), data.length);
        }
    }

    public static int fi_listen(Handle passiveEndpoint) {
        return Downcalls.callForInt(fi_listen.of(passiveEndpoint), passiveEndpoint.pointer());
    }

    public static int fi_accept(Handle endpoint, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_accept.of(endpoint), endpoint.pointer(), data(arena, data), data.length);
        }
    }

    /** Consumes the request, the handle of its info. */
    public static int fi_reject(Handle passiveEndpoint, long request, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_reject.of(passiveEndpoint), passiveEndpoint.pointer(),
                    MemorySegment.ofAddress(request), data(arena, data), data.length);
        }
    }

    /** Joins a multicast group. Its event has this context, which need not be an address. */
    public static OpenResult fi_join(Handle endpoint, byte[] group, long context) {
        return OpenResult.of(endpoint.provider(), (arena, out) -> Downcalls.callForInt(fi_join.of(endpoint),
                endpoint.pointer(), name(arena, group), 0, out, MemorySegment.ofAddress(context)));
    }

    public static int fi_shutdown(Handle endpoint) {
        return Downcalls.callForInt(fi_shutdown.of(endpoint), endpoint.pointer(), 0);
    }

    /** The address in zeroed memory: some providers read it as text. */
    static MemorySegment name(Arena arena, byte[] address) {
        MemorySegment name = arena.allocate(Math.max(ROOM, address.length + 1L), Long.BYTES);
        MemorySegment.copy(address, 0, name, JAVA_BYTE, 0, address.length);
        return name;
    }

    private static MemorySegment data(Arena arena, byte[] data) {
        return data.length == 0 ? MemorySegment.NULL : arena.allocateFrom(JAVA_BYTE, data);
    }
}
