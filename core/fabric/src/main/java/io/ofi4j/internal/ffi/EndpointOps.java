package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_alias;
import io.ofi4j.bindings.fi_ops_ep;
import io.ofi4j.bindings.fid_ep;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * {@code struct fi_ops_ep}, which the structs of active and passive endpoints have at the same place, and fi_control of
 * endpoints.
 */
public final class EndpointOps {
    /** Providers read and write a size_t, whatever length they are given. */
    private static final long ROOM = 64;

    /** A transmit context of a scalable endpoint. */
    public static OpenResult fi_tx_context(Handle scalable, int index, InfoHandle info) {
        return OpenResult.of(scalable.provider(), (arena, out) -> Downcalls.callForInt(fi_tx_context.of(scalable),
                scalable.pointer(), index, info.transmit(), out, MemorySegment.NULL));
    }

    /** A receive context of a scalable endpoint. */
    public static OpenResult fi_rx_context(Handle scalable, int index, InfoHandle info) {
        return OpenResult.of(scalable.provider(), (arena, out) -> Downcalls.callForInt(fi_rx_context.of(scalable),
                scalable.pointer(), index, info.receive(), out, MemorySegment.NULL));
    }

    /** A status, and the value if it is 0. */
    public record Number(int status, long value) {}

    /** The size of the value is 1 for a bool, 4 for an int, 8 for a size_t. */
    public static Number fi_getopt(Handle endpoint, int option, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ROOM, Long.BYTES);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, size);
            int status = Downcalls.callForInt(fi_getopt.of(endpoint), endpoint.pointer(), fabric_h.FI_OPT_ENDPOINT(),
                    option, value, length);
            return new Number(status, switch (size) {
                case Byte.BYTES -> value.get(JAVA_BYTE, 0);
                case Integer.BYTES -> value.get(JAVA_INT, 0);
                default -> value.get(JAVA_LONG, 0);
            });
        }
    }

    /** FI_OPT_CM_DATA_SIZE: the bytes that may go with a connection call, 0 if the provider does not say. */
    public static int connectionDataSize(Handle endpoint) {
        if (fi_getopt.find(endpoint) == null) { return 0; }
        Number found = fi_getopt(endpoint, fabric_h.FI_OPT_CM_DATA_SIZE(), Long.BYTES);
        return found.status() == 0 ? Math.clamp(found.value(), 0, Short.MAX_VALUE) : 0;
    }

    /** As {@link #fi_getopt}. */
    public static int fi_setopt(Handle endpoint, int option, int size, long number) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ROOM, Long.BYTES);
            value.set(JAVA_LONG, 0, number); // little-endian: its first bytes are the shorter number
            return Downcalls.callForInt(fi_setopt.of(endpoint), endpoint.pointer(), fabric_h.FI_OPT_ENDPOINT(), option,
                    value, size);
        }
    }

    /** The number of operations, or an error negated. */
    public static long fi_tx_size_left(Handle endpoint) {
        return Downcalls.callForLong(fi_tx_size_left.of(endpoint), endpoint.pointer());
    }

    /** The number of receives, or an error negated. */
    public static long fi_rx_size_left(Handle endpoint) {
        return Downcalls.callForLong(fi_rx_size_left.of(endpoint), endpoint.pointer());
    }

    /** FI_GETOPSFLAG; the direction is FI_TRANSMIT or FI_RECV. */
    public static Number getOperationFlags(Handle endpoint, long direction) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment flags = arena.allocateFrom(JAVA_LONG, direction);
            return new Number(FidOps.control(endpoint, fabric_h.FI_GETOPSFLAG(), flags, "fi_control(FI_GETOPSFLAG)"),
                    flags.get(JAVA_LONG, 0));
        }
    }

    /** FI_SETOPSFLAG; the flags include FI_TRANSMIT or FI_RECV. */
    public static int setOperationFlags(Handle endpoint, long flags) {
        try (Arena arena = Arena.ofConfined()) {
            return FidOps.control(endpoint, fabric_h.FI_SETOPSFLAG(), arena.allocateFrom(JAVA_LONG, flags),
                    "fi_control(FI_SETOPSFLAG)");
        }
    }

    /** The flags include FI_TRANSMIT or FI_RECV. */
    public static OpenResult fi_ep_alias(Handle endpoint, long flags) {
        return OpenResult.of(endpoint.provider(), (arena, out) -> {
            MemorySegment alias = OwnedStruct.allocate(arena, fi_alias.layout());
            fi_alias.fid(alias, out);
            fi_alias.flags(alias, flags);
            int status = FidOps.control(endpoint, fabric_h.FI_ALIAS(), alias, "fi_ep_alias");
            boolean isThere = out.get(ADDRESS, 0).address() != 0; // the struct fid is the first of a struct fid_ep
            return status == 0 && !isThere ? -Errno.ENOSYS : status;
        });
    }

    /** Asks for the cancellation of an operation; providers answer 0 also where there is nothing to cancel. */
    public static long fi_cancel(Handle endpoint, long context) {
        return Downcalls.callForLong(fi_cancel.of(endpoint), endpoint.pointer(), MemorySegment.ofAddress(context));
    }
}
