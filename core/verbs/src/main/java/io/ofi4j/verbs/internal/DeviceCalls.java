package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

import io.ofi4j.bindings.verbs.ibv_context;
import io.ofi4j.bindings.verbs.ibv_device;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/** Devices of libibverbs: the list of them, and opening one; ibv_get_device_list(3), ibv_open_device(3). */
public final class DeviceCalls {
    private static final MethodHandle GET_LIST = ErrnoCalls.exported(ibv_get_device_list$address(),
            ibv_get_device_list$descriptor());
    private static final MethodHandle OPEN = ErrnoCalls.exported(ibv_open_device$address(),
            ibv_open_device$descriptor());
    private static final MethodHandle CLOSE = ErrnoCalls.exported(ibv_close_device$address(),
            ibv_close_device$descriptor());

    private DeviceCalls() {}

    /** The attributes of a device that is not open. */
    public record Found(String name, long guid, int nodeType, int transport) {}

    /** An action on each device of the list, called while the list exists. */
    private interface Action<T> {
        T apply(MemorySegment device);
    }

    public static List<Found> ibv_get_device_list() {
        return each(device -> new Found(name(device), Long.reverseBytes(ibv_get_device_guid(device)),
                ibv_device.node_type(device), ibv_device.transport_type(device)));
    }

    /** The context of a device, or null if there is no device of that name. */
    public static MemorySegment ibv_open_device(String name) {
        return each(device -> name(device).equals(name)
                ? ErrnoCalls.pointer("ibv_open_device(" + name + ")",
                        state -> (MemorySegment) OPEN.invokeExact(state, device))
                : null).stream().filter(found -> found != null).findFirst().orElse(null);
    }

    public static void ibv_close_device(MemorySegment context) {
        ErrnoCalls.check("ibv_close_device", state -> (int) CLOSE.invokeExact(state, context));
    }

    /** The name of the device of a context. */
    public static String nameOf(MemorySegment context) {
        return name(ibv_context.device(ibv_context.reinterpret(context, Arena.global(), null)));
    }

    /** The transport of the device of a context: an IBV_TRANSPORT constant. */
    public static int transportOf(MemorySegment context) {
        MemorySegment device = ibv_context.device(ibv_context.reinterpret(context, Arena.global(), null));
        return ibv_device.transport_type(ibv_device.reinterpret(device, Arena.global(), null));
    }

    private static String name(MemorySegment device) {
        return ibv_device.name(ibv_device.reinterpret(device, Arena.global(), null)).getString(0);
    }

    private static <T> List<T> each(Action<T> action) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment list = list(count);
            if (list == null) { return List.of(); }
            try {
                return actions(list, count.get(ValueLayout.JAVA_INT, 0), action);
            } finally {
                ibv_free_device_list(list);
            }
        }
    }

    /** The list, or null if the kernel has no module for user-space verbs. */
    private static MemorySegment list(MemorySegment count) {
        try {
            return ErrnoCalls.pointer("ibv_get_device_list",
                    state -> (MemorySegment) GET_LIST.invokeExact(state, count));
        } catch (UnsupportedOperationException e) { // ENOSYS
            return null;
        }
    }

    private static <T> List<T> actions(MemorySegment list, int count, Action<T> action) {
        MemorySegment pointers = LibC.bytes(list, ValueLayout.ADDRESS.byteSize() * count);
        List<T> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            MemorySegment device = pointers.getAtIndex(ValueLayout.ADDRESS, i);
            results.add(action.apply(ibv_device.reinterpret(device, Arena.global(), null)));
        }
        return results;
    }

    /** ibv_wc_status_str(3). */
    public static String ibv_wc_status_str(int status) {
        return LibC.string(io.ofi4j.bindings.verbs.verbs_h.ibv_wc_status_str(status));
    }
}
