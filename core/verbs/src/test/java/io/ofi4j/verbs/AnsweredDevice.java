package io.ofi4j.verbs;

import io.ofi4j.bindings.verbs.ibv_device_attr;
import io.ofi4j.bindings.verbs.ibv_device_attr_ex;
import io.ofi4j.bindings.verbs.verbs_context;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.verbs.internal.DeviceCalls;
import io.ofi4j.verbs.internal.QueuePairCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A device that reports the capabilities that the test wants, and XRC, which no software device has. The test answers
 * these calls in place of the driver, and opens an ordinary queue pair for an XRC target. All other calls reach the
 * driver.
 */
final class AnsweredDevice implements AutoCloseable {
    private static final long XRC_DOMAIN = 4096;

    /** The device with the capabilities of the test. */
    final DeviceContext context;

    private final Arena arena = Arena.ofShared();
    /** The device with its own capabilities. */
    private final DeviceContext device;
    private final ProtectionDomain domain;
    private final VerbsCompletionQueue queue;
    private final long added;
    private final long removed;

    private AnsweredDevice(String name, long added, long removed) {
        this.added = added;
        this.removed = removed;
        this.device = Verbs.load().open(name);
        this.domain = device.openProtectionDomain();
        this.queue = device.openCompletionQueue(16);
        this.context = new DeviceContext(answering(name), name, true);
    }

    static AnsweredDevice with(String name, DeviceCapability capability) {
        return new AnsweredDevice(name, capability.bit(), 0);
    }

    static AnsweredDevice without(String name, DeviceCapability capability) {
        return new AnsweredDevice(name, 0, capability.bit());
    }

    /** A context of its own, with functions of this test. */
    private MemorySegment answering(String name) {
        MemorySegment opened = DeviceCalls.ibv_open_device(name);
        MemorySegment functions = LibC.bytes(MemorySegment.ofAddress(opened.address() - verbs_context.context$offset()),
                verbs_context.sizeof());
        if (verbs_context.sz(functions) < functions.byteSize()) {
            throw new AssertionError("libibverbs is older than the bindings");
        }
        verbs_context.query_device_ex(functions, verbs_context.query_device_ex.allocate(this::query, arena));
        verbs_context.open_xrcd(functions,
                verbs_context.open_xrcd.allocate((itself, attributes) -> MemorySegment.ofAddress(XRC_DOMAIN), arena));
        verbs_context.close_xrcd(functions, verbs_context.close_xrcd.allocate(xrcDomain -> 0, arena));
        verbs_context.create_qp_ex(functions, verbs_context.create_qp_ex.allocate(this::createTarget, arena));
        return opened;
    }

    private int query(MemorySegment itself, MemorySegment input, MemorySegment attributes, long size) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment all = LibC.bytes(attributes, ibv_device_attr_ex.sizeof())
                    .copyFrom(device.extended.ibv_query_device_ex(call));
            MemorySegment one = ibv_device_attr_ex.orig_attr(all);
            ibv_device_attr_ex.device_cap_flags_ex(all, changed(ibv_device_attr_ex.device_cap_flags_ex(all)));
            ibv_device_attr.device_cap_flags(one,
                    (int) changed(Integer.toUnsignedLong(ibv_device_attr.device_cap_flags(one))));
            return 0;
        } catch (Throwable t) { // which must not leave an upcall
            return Errno.EIO;
        }
    }

    private long changed(long capabilities) { return (capabilities | added) & ~removed; }

    private MemorySegment createTarget(MemorySegment itself, MemorySegment attributes) {
        try {
            return QueuePairCalls.ibv_create_qp(domain.pointer,
                    new QueuePairCalls.Sizes(queue.pointer, queue.pointer, 1, 1, 0));
        } catch (Throwable t) {
            return MemorySegment.NULL;
        }
    }

    @Override
    public void close() {
        context.close();
        queue.close();
        domain.close();
        device.close();
        arena.close();
    }
}
