package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_cq;
import io.ofi4j.bindings.fid_domain;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * A place in an ops table of a provider where the pointer to a function stands. For the quirks of {@code ofi_rxm}, which replace a few
 * of them.
 *
 * @param address where the pointer stands
 */
@SuppressWarnings("restricted")
public record FunctionSlot(long address) {

    /** {@return that of fi_cq_readerr in the table that the queues of a provider share} */
    public static FunctionSlot readerr(Handle queue) {
        return in(NativeWords.get(queue.address(), fid_cq.ops$offset()), fi_ops_cq.readerr$offset());
    }

    /** {@return that of fi_endpoint in the table of a domain} */
    public static FunctionSlot endpoint(Handle domain) {
        return in(NativeWords.get(domain.address(), fid_domain.ops$offset()), fi_ops_domain.endpoint$offset());
    }

    /** {@return that of fi_close in the table of an object} */
    public static FunctionSlot close(long object) {
        return in(NativeWords.get(object, fid.ops$offset()), fi_ops.close$offset());
    }

    /** {@return that at an offset of a table} */
    public static FunctionSlot in(long table, long offset) {
        return new FunctionSlot(table + offset);
    }

    /** What fi_open_ops gave: its status, and the table's address where that is 0. */
    public record Table(int status, long address) {
    }

    /** fi_open_ops, fi_domain(3). */
    public static Table open(Handle domain, String name) {
        MemorySegment function = domain.require(fid.ops$offset(), fi_ops.ops_open$offset(), "fi_open_ops");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = fi_ops.ops_open.invoke(function, domain.pointer(), arena.allocateFrom(name), 0, out,
                    MemorySegment.NULL);
            return new Table(status, out.get(JAVA_LONG, 0));
        }
    }

    /** {@return whether an object is an active endpoint} */
    public static boolean isEndpoint(long object) {
        return NativeWords.get(object, fid.fclass$offset()) == fabric_h.FI_CLASS_EP(); // a size_t
    }

    /** {@return the context that an object was opened with} */
    public static long context(long object) {
        return NativeWords.get(object, fid.context$offset());
    }

    /** {@return a handle for a function of a provider, whose address comes first} */
    public static MethodHandle downcall(FunctionDescriptor descriptor) {
        return Downcalls.plain(descriptor);
    }

    /** {@return the function that stands there} */
    public long function() {
        return NativeWords.get(address, 0);
    }

    /** Whether another function can be put there. */
    public boolean isWritable() {
        return NativeMemory.isWritable(address);
    }

    /**
     * Puts a Java method there, for the rest of the process' life.
     *
     * @param target must not throw
     * @param descriptor the C signature
     */
    public void replace(MethodHandle target, FunctionDescriptor descriptor) {
        MemorySegment stub = Linker.nativeLinker().upcallStub(target, descriptor, Arena.global());
        VarHandle.fullFence(); // before another thread may call it
        NativeWords.set(address, 0, stub.address());
    }
}
