package io.ofi4j.internal.quirks.rxm;

import io.ofi4j.internal.ffi.FunctionSlot;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashSet;
import java.util.Set;

/** Functions of providers that were replaced by Java methods, for the rest of the process' life. */
final class ReplacedFunctions {
    private static final Set<FunctionSlot> REPLACED = new HashSet<>();

    private ReplacedFunctions() {}

    /**
     * Puts a method in the place of a function, once. Where the place cannot be written, that is logged, and the function stays.
     *
     * @param slot the place
     * @param where the class that has the method
     * @param method takes the original function's address, then what the function takes; throws nothing
     * @param descriptor the function's C signature
     */
    static synchronized void replace(FunctionSlot slot, MethodHandles.Lookup where, String method,
            FunctionDescriptor descriptor) {
        if (!REPLACED.add(slot)) { return; }
        if (!slot.isWritable()) {
            System.getLogger("io.ofi4j").log(Level.WARNING,
                    "the table that has the function for {0} cannot be written: a peer of ofi_rxm that leaves at the wrong"
                            + " moment may end this process",
                    method);
            return;
        }
        MethodType type = descriptor.toMethodType().insertParameterTypes(0, long.class);
        try {
            MethodHandle target = where.findStatic(where.lookupClass(), method, type);
            slot.replace(MethodHandles.insertArguments(target, 0, slot.function()), descriptor);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
