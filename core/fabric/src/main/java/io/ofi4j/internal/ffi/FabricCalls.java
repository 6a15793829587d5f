package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.ofi4j.info.Parameter;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_param;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** The functions that libfabric exports as symbols. */
@SuppressWarnings("restricted")
public final class FabricCalls {
    /** As long as the buffer of fi_tostr. */
    private static final long TEXT_LENGTH = 8192;
    private static final MemorySegment FI_VERSION;

    static {
        NativeLibrary.ensureLoaded();
        FI_VERSION = NativeLibrary.function("fi_version");
    }

    /** The major number in the upper 16 bits, the minor in the lower. */
    public static int fi_version() {
        return Downcalls.callForInt(FI_VERSION);
    }

    /** Whether structs have the fields of libfabric 2.0. */
    public static boolean isVersion2() {
        return fi_version() >>> 16 >= 2;
    }

    /** Whether libfabric knows this {@code enum fi_datatype}: what it does not know may end the process. */
    static boolean isDatatype(int datatype) {
        return datatype < fabric_h.FI_FLOAT16() || isVersion2();
    }

    /** Whether memory can be registered as a part of a DMA-buf. */
    public static boolean supportsDmaBufs() {
        return isVersion2();
    }

    /** Whether fi_getinfo knows FI_RESCAN, which is of 2.2. */
    public static boolean supportsRescan() {
        return fi_version() >= (2 << 16 | 2);
    }

    public static String fi_strerror(int errno) {
        return LibC.string(Downcalls.callForLong(NativeLibrary.function("fi_strerror"), errno));
    }

    public static String fi_tostr(int value, int type) {
        try (Arena arena = Arena.ofConfined()) {
            return fi_tostr(arena.allocateFrom(JAVA_INT, value), type);
        }
    }

    /** By fi_tostr_r: fi_tostr has one buffer for all threads. */
    static String fi_tostr(MemorySegment value, int type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT_LENGTH);
            return LibC.string(
                    Downcalls.callForLong(NativeLibrary.function("fi_tostr_r"), text, TEXT_LENGTH, value, type));
        }
    }

    /** A deep copy, which the caller owns; NULL gives an empty one with all attributes. */
    static MemorySegment fi_dupinfo(MemorySegment info) {
        long copy = Downcalls.callForLong(NativeLibrary.function("fi_dupinfo"), info);
        if (copy == 0) { throw new OutOfMemoryError("fi_dupinfo"); }
        return MemorySegment.ofAddress(copy);
    }

    static void fi_freeinfo(MemorySegment info) { Downcalls.callForInt(NativeLibrary.function("fi_freeinfo"), info); }

    /** The status, and copies of the infos. */
    public record Found(int status, List<InfoHandle> infos) {}

    /** Node and service may be null. */
    public static Found fi_getinfo(int version, String node, String service, long flags, InfoHandle hints) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment nodeText = node == null ? MemorySegment.NULL : arena.allocateFrom(node);
            MemorySegment serviceText = service == null ? MemorySegment.NULL : arena.allocateFrom(service);
            // The first call loads the providers, some of which install signal handlers.
            int status = SignalGuard.call(() -> Downcalls.callForInt(NativeLibrary.function("fi_getinfo"), version,
                    nodeText, serviceText, flags, hints.pointer(), out));
            if (status != 0) { return new Found(status, List.of()); }
            MemorySegment first = out.get(ADDRESS, 0);
            try {
                return new Found(0, Stream
                        .iterate(first, at -> at.address() != 0, at -> fi_info.next(at.reinterpret(fi_info.sizeof())))
                        .map(InfoHandle::copyOf).map(copy -> copy.withoutUnaskedSharing(hints)).toList());
            } finally {
                fi_freeinfo(first);
            }
        }
    }

    public static OpenResult fi_fabric(InfoHandle info, String provider) {
        return OpenResult.of(provider, (arena, out) -> SignalGuard.call(() -> Downcalls
                .callForInt(NativeLibrary.function("fi_fabric"), info.fabric(), out, MemorySegment.NULL)));
    }

    public static List<Parameter> fi_getparams() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment count = arena.allocate(JAVA_INT);
            if (Downcalls.callForInt(NativeLibrary.function("fi_getparams"), out, count) != 0) { return List.of(); }
            int length = count.get(JAVA_INT, 0);
            MemorySegment parameters = out.get(ADDRESS, 0).reinterpret(length * fi_param.sizeof());
            List<Parameter> all = parameters.elements(fi_param.layout())
                    .map(one -> new Parameter(LibC.string(fi_param.name(one)),
                            Objects.requireNonNullElse(LibC.string(fi_param.help_string(one)), ""),
                            Optional.ofNullable(LibC.string(fi_param.value(one)))))
                    .toList();
            if (length > 0) { Downcalls.callForInt(NativeLibrary.function("fi_freeparams"), parameters); }
            return all;
        }
    }
}
