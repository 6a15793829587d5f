package io.ofi4j.internal.quirks.rxm;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Hints;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.TestedVersions;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Replaces functions of the provider below {@code ofi_rxm}, while a domain is open. This is an exception to the rule
 * for quirks: a peer that leaves at the wrong moment ends every process that communicates with it. The originals come
 * back with the close of the last domain, and at the latest when the JVM ends: a process that goes on without it and
 * calls a replacement is aborted.
 *
 * <p>The replacements are Java methods. A critical call must neither reach one of them nor wait for a lock whose holder
 * does. With these providers all calls that move data are therefore plain.
 */
abstract class CoreProviderPatch extends Quirk {
    private static final Map<FunctionSlot, Replacement> REPLACED = new HashMap<>();

    private static final Set<FunctionSlot> UNWRITABLE = new HashSet<>();

    /** The number of open domains. */
    private static int domains;
    /** Restores the originals when the JVM ends; null while no domain is open. */
    private static Thread hook;
    /** Whether the JVM ends: nothing is replaced any more. */
    private static boolean exiting;

    /** A Java method in place of a function. */
    private record Replacement(MemorySegment original, MemorySegment stub) {}

    private final Set<String> prepared = new HashSet<>();

    CoreProviderPatch(String name, Predicate<Provider> providers, VersionRange versions, String upstream, String test) {
        super(name, provider -> provider.hasLayer("ofi_rxm") && !provider.isConnected() && providers.test(provider),
                versions, upstream, test);
    }

    /**
     * Replaces functions of a domain of the provider below. Returns 0, or the error of the call that gives access to
     * them.
     */
    abstract int replaceIn(Handle domain);

    /** Looks at a queue of the provider below. Returns 0, or the error of its open. */
    static int withQueue(Handle domain, Consumer<Handle> action) {
        OpenResult queue = DomainOps.fi_cq_open(domain, 0, FabricConstants.FI_CQ_FORMAT_DATA, 0, -1);
        if (queue.status() == 0) {
            action.accept(queue.handle());
            FidOps.fi_close(queue.handle());
        }
        return queue.status();
    }

    @Override
    protected void addFacts(Set<Fact> known) {
        super.addFacts(known);
        known.remove(Fact.CRITICAL_POSTS);
        known.remove(Fact.CRITICAL_POLLS);
    }

    @Override
    protected synchronized void beforeDomain(Provider provider) {
        begin();
        try {
            prepare(provider);
        } catch (Throwable t) {
            end();
            throw t;
        }
    }

    @Override
    protected void domainClosed() { end(); }

    /** Puts the replacements that were made before in place again. */
    private static synchronized void begin() {
        if (domains++ > 0) { return; }
        Thread added = new Thread(CoreProviderPatch::exit, "ofi4j-functions");
        try {
            Runtime.getRuntime().addShutdownHook(added);
            hook = added;
        } catch (IllegalStateException e) {
            exiting = true;
            return;
        }
        REPLACED.forEach((slot, replacement) -> slot.set(replacement.stub));
    }

    private static synchronized void end() {
        if (--domains > 0) { return; }
        restore();
        try {
            if (hook != null) { Runtime.getRuntime().removeShutdownHook(hook); }
            hook = null;
        } catch (IllegalStateException e) {
            exiting = true;
        }
    }

    private static synchronized void exit() {
        exiting = true;
        restore();
        DepartedPeers.end();
        LateCloses.end();
    }

    private static void restore() {
        REPLACED.forEach((slot, replacement) -> {
            if (slot.function().equals(replacement.stub)) { slot.set(replacement.original); }
        });
    }

    private void prepare(Provider provider) {
        if (prepared.contains(provider.core())) { return; }
        List<InfoHandle> infos = find(provider.core(), provider.device());
        if (infos.isEmpty()) { // the device may have another name below: try all of them
            infos = find(provider.core(), null);
        }
        int status = 0;
        for (InfoHandle info : infos) {
            status = open(provider.core(), info);
            if (status == 0) {
                // if none can be opened, perhaps for lack of descriptors, the next call tries again
                prepared.add(provider.core());
                break;
            }
        }
        Status.check(status, "fi_domain", provider.name());
    }

    /** Functions are replaced on the versions alone that the tests have run on, not on those between. */
    static boolean isTested(Provider provider) {
        return TestedVersions.ALL.contains(provider.libfabric());
    }

    private static List<InfoHandle> find(String base, String device) {
        return FabricCalls.fi_getinfo(FabricCalls.fi_version(), null, null, 0, Hints.forCoreProvider(base, device))
                .infos();
    }

    private int open(String base, InfoHandle info) {
        OpenResult fabric = FabricCalls.fi_fabric(info, base);
        if (fabric.status() != 0) { return fabric.status(); }
        OpenResult domain = FabricOps.fi_domain(fabric.handle(), info);
        int status = domain.status();
        if (status == 0) {
            status = replaceIn(domain.handle());
            FidOps.fi_close(domain.handle());
        }
        FidOps.fi_close(fabric.handle());
        return status;
    }

    /**
     * Replaces a function by a Java method, once. Where the slot cannot be written, that is logged, and the function
     * stays.
     *
     * @param slot where the table has the function
     * @param where the class that has the method
     * @param method takes the original function, then what the function takes; throws nothing
     * @param descriptor the function's C signature
     */
    static synchronized void replace(FunctionSlot slot, MethodHandles.Lookup where, String method,
            FunctionDescriptor descriptor) {
        if (exiting || REPLACED.containsKey(slot) || UNWRITABLE.contains(slot)) { return; }
        if (!slot.isWritable()) {
            UNWRITABLE.add(slot);
            System.getLogger("io.ofi4j").log(Level.WARNING,
                    "the table that has the function for {0} cannot be written: a peer of ofi_rxm that leaves at the"
                            + " wrong moment may end this process",
                    method);
            return;
        }
        try {
            MemorySegment original = slot.function();
            MemorySegment stub = ofJava(original, where, method, descriptor);
            REPLACED.put(slot, new Replacement(original, stub));
            slot.set(stub);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** {@return a function that calls a Java method, whose first argument is the original} */
    static MemorySegment ofJava(MemorySegment original, MethodHandles.Lookup where, String method,
            FunctionDescriptor descriptor) throws ReflectiveOperationException {
        MethodType type = descriptor.toMethodType().insertParameterTypes(0, MemorySegment.class);
        MethodHandle target = where.findStatic(where.lookupClass(), method, type);
        return FunctionSlot.ofJava(MethodHandles.insertArguments(target, 0, original), descriptor);
    }
}
