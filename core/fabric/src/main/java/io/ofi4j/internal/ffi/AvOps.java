package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops_av;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** {@code struct fi_ops_av}. */
public final class AvOps {
    /** Most addresses are shorter; a provider that reads past the caller's bytes stays inside zeroed memory. */
    private static final int ROOM = 1024;

    /**
     * The result of an insertion: the provider's count or a negated error, and per address its fi_addr_t (or
     * FI_ADDR_NOTAVAIL) and its errno, if the provider reports that.
     */
    public record Inserted(int status, long[] addresses, int[] errors) {
        /** Whether an address was inserted: some providers count wrongly, some give no number. */
        public boolean has(int index) {
            return status > 0 && addresses[index] != FabricConstants.FI_ADDR_NOTAVAIL && errors[index] == 0;
        }

        /** The errno of an address that was not inserted. */
        public int error(int index) {
            return status < 0 ? -status : errors[index] > 0 ? errors[index] : Errno.EADDRNOTAVAIL;
        }
    }

    private interface Call {
        int insert(Arena arena, MemorySegment addresses, long flags, MemorySegment errors);
    }

    /** fi_av_insert. The addresses must have the same length. */
    public static Inserted fi_av_insert(Handle vector, List<byte[]> addresses) {
        long each = addresses.getFirst().length;
        return insert(addresses.size(), (arena, out, flags, errors) -> {
            MemorySegment names = arena.allocate(each * addresses.size() + ROOM, Long.BYTES);
            for (int i = 0; i < addresses.size(); i++) {
                MemorySegment.copy(addresses.get(i), 0, names, JAVA_BYTE, i * each, (int) each);
            }
            return Downcalls.callForInt(fi_av_insert.of(vector), vector.pointer(), names, addresses.size(), out, flags,
                    errors);
        });
    }

    /** May ask a name server. */
    public static Inserted fi_av_insertsvc(Handle vector, String node, String service) {
        return insert(1, (arena, out, flags, errors) -> Downcalls.callForInt(fi_av_insertsvc.of(vector),
                vector.pointer(), arena.allocateFrom(node), arena.allocateFrom(service), out, flags, errors));
    }

    public static Inserted fi_av_insertsym(Handle vector, String node, int nodes, String service, int services) {
        return insert(nodes * services,
                (arena, out, flags, errors) -> Downcalls.callForInt(fi_av_insertsym.of(vector), vector.pointer(),
                        arena.allocateFrom(node), nodes, arena.allocateFrom(service), services, out, flags, errors));
    }

    /**
     * Inserts without flags, as most programs do: some providers refuse all others, each with an error of its own. Only
     * if nothing was inserted, and the provider gives no reason, it is asked for the error of each address
     * (FI_SYNC_ERR).
     */
    private static Inserted insert(int count, Call call) {
        try (Arena arena = Arena.ofConfined()) {
            Inserted plain = insert(arena, count, call, 0);
            if (plain.status != 0) { return plain; }
            Inserted explained = insert(arena, count, call, fabric_h.FI_SYNC_ERR());
            return explained.status < 0 ? plain : explained;
        }
    }

    private static Inserted insert(Arena arena, int count, Call call, long flags) {
        MemorySegment addresses = arena.allocate(JAVA_LONG, count).fill((byte) FabricConstants.FI_ADDR_NOTAVAIL);
        MemorySegment errors = arena.allocate(JAVA_INT, count);
        int status = call.insert(arena, addresses, flags, flags == 0 ? MemorySegment.NULL : errors);
        return new Inserted(status, addresses.toArray(JAVA_LONG), errors.toArray(JAVA_INT));
    }

    public static int fi_av_remove(Handle vector, long address) {
        try (Arena arena = Arena.ofConfined()) {
            return Downcalls.callForInt(fi_av_remove.of(vector), vector.pointer(),
                    arena.allocateFrom(JAVA_LONG, address), 1, 0);
        }
    }

    /** The status; -FI_ENOSYS where the provider lacks the function. */
    public static int fi_av_set_user_id(Handle vector, long address, long id) {
        MemorySegment function = fi_av_set_user_id.find(vector);
        return function == null ? -Errno.ENOSYS : Downcalls.callForInt(function, vector.pointer(), address, id, 0);
    }

    /** The status, and the address if it is 0. */
    public record Found(int status, byte[] address) {}

    /** The address must be in the vector: providers do not check. */
    public static Found fi_av_lookup(Handle vector, long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(ROOM, Long.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM);
            int status = lookup(vector, address, name, length);
            long size = length.get(JAVA_LONG, 0);
            if (size > ROOM && size <= CmOps.MAX_ROOM) { // it was cut
                name = arena.allocate(size, Long.BYTES);
                status = lookup(vector, address, name, length);
                size = length.get(JAVA_LONG, 0);
            }
            if (status == 0 && (size < 1 || size > name.byteSize())) { return new Found(-Errno.EMSGSIZE, null); }
            return new Found(status, status != 0 ? null : name.asSlice(0, size).toArray(JAVA_BYTE));
        }
    }

    private static int lookup(Handle vector, long address, MemorySegment name, MemorySegment length) {
        return Downcalls.callForInt(fi_av_lookup.of(vector), vector.pointer(), address, name, length);
    }

    public static String fi_av_straddr(Handle vector, byte[] address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = CmOps.name(arena, address);
            MemorySegment text = arena.allocate(ROOM);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, ROOM - 1L);
            straddr(vector, name, text, length);
            long size = length.get(JAVA_LONG, 0);
            if (size >= ROOM && size <= CmOps.MAX_ROOM) { // it was cut
                text = arena.allocate(size + 1);
                straddr(vector, name, text, length);
            }
            return text.getString(0);
        }
    }

    private static void straddr(Handle vector, MemorySegment name, MemorySegment text, MemorySegment length) {
        Downcalls.callForInt(fi_av_straddr.of(vector), vector.pointer(), name, text, length);
    }
}
