package io.ofi4j.internal.ffi;

import static io.ofi4j.internal.ffi.InlineFunction.*;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fid;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The address of a function pointer in an ops table of a provider. For the quirks of {@code ofi_rxm}, which replace a
 * few functions.
 */
@SuppressWarnings("restricted")
public record FunctionSlot(long address) {
    /** {@return the slot of fi_cq_readerr in the table that all queues of a provider share} */
    public static FunctionSlot readerr(Handle queue) {
        return fi_cq_readerr.slot(queue.address());
    }

    /** {@return the slot of fi_cq_read in the table of a queue} */
    public static FunctionSlot read(Handle queue) {
        return fi_cq_read.slot(queue.address());
    }

    /** {@return where a queue has the pointer to its table of reads} */
    public static FunctionSlot tableOfReads(long queue) {
        return new FunctionSlot(queue + fi_cq_read.table);
    }

    /** {@return where any object has the pointer to its table of fi_close, fi_ep_bind and the like} */
    public static FunctionSlot table(long object) {
        return new FunctionSlot(object + fi_close.table);
    }

    /** A copy of a table, which begins with its size, for some objects; it stays until the JVM ends. */
    public static MemorySegment copy(MemorySegment table) {
        long size = NativeWords.get(table.address(), 0);
        return Arena.global().allocate(size, Long.BYTES).copyFrom(LibC.bytes(table, size));
    }

    /** {@return the same slot in the copy of its table} */
    public FunctionSlot inCopy(MemorySegment table, MemorySegment copy) {
        return new FunctionSlot(copy.address() + address - table.address());
    }

    /** {@return the slot of fi_endpoint in the table of a domain} */
    public static FunctionSlot endpoint(Handle domain) {
        return fi_endpoint.slot(domain.address());
    }

    /** {@return the slot of fi_ep_bind and its like in the table of an object} */
    public static FunctionSlot bind(long object) {
        return bind.slot(object);
    }

    /** {@return the slot of fi_close in the table of an object} */
    public static FunctionSlot close(long object) {
        return fi_close.slot(object);
    }

    public static FunctionSlot in(long table, long offset) { return new FunctionSlot(table + offset); }

    /** fi_open_ops, which gives a table; see fi_domain(3). */
    public static OpenResult open(Handle domain, String name) {
        return OpenResult.of(domain.provider(), (arena, out) -> Downcalls.callForInt(fi_open_ops.of(domain),
                domain.pointer(), arena.allocateFrom(name), 0, out, MemorySegment.NULL));
    }

    public static boolean isQueue(long object) {
        return NativeWords.get(object, fid.fclass$offset()) == fabric_h.FI_CLASS_CQ(); // a size_t
    }

    public static boolean isEndpoint(long object) {
        return NativeWords.get(object, fid.fclass$offset()) == fabric_h.FI_CLASS_EP(); // a size_t
    }

    /** {@return the context that an object was opened with} */
    public static long context(long object) {
        return NativeWords.get(object, fid.context$offset());
    }

    public MemorySegment function() { return MemorySegment.ofAddress(NativeWords.get(address, 0)); }

    public boolean isWritable() { return NativeMemory.isWritable(address); }

    /** A function that calls a Java method, which must not throw. It can be called until the JVM ends. */
    public static MemorySegment ofJava(MethodHandle target, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().upcallStub(target, descriptor, Arena.global());
    }

    /** Replaces the function. */
    public void set(MemorySegment function) {
        VarHandle.fullFence(); // the function must be visible before its address
        NativeWords.set(address, 0, function.address());
    }
}
