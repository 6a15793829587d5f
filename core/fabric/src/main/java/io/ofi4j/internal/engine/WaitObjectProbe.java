package io.ofi4j.internal.engine;

import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.util.Set;

/** Finds out whether a provider has a wait object. The provider does not say so: a queue must be opened. */
public final class WaitObjectProbe {
    /** Error numbers that say nothing about a wait object. */
    private static final Set<Integer> NOTHING_LEFT = Set.of(Errno.EMFILE, Errno.ENOMEM);

    private WaitObjectProbe() {}

    static boolean succeeds(NativeFabricInfo info, WaitObject object) {
        Quirks quirks = info.chosenQuirks();
        boolean isRefused = object != WaitObject.NONE && quirks.has(Fact.QUEUE_DOMAINS_LACK_WAIT_OBJECTS);
        if (isRefused || !object.isOffered()) { return false; }
        quirks.beforeDomain(info.identity());
        try {
            return takes(info, object);
        } finally {
            quirks.domainClosed();
        }
    }

    private static boolean takes(NativeFabricInfo info, WaitObject object) {
        Handle fabric = opened(FabricCalls.fi_fabric(info.handle(), info.provider()), "fi_fabric", info);
        try {
            Handle domain = opened(FabricOps.fi_domain(fabric, info.handle()), "fi_domain", info);
            try {
                int status = openQueue(domain, object);
                if (NOTHING_LEFT.contains(-status)) { throw Status.exception(status, "fi_cq_open", info.provider()); }
                return status == 0;
            } finally {
                FidOps.fi_close(domain);
            }
        } finally {
            FidOps.fi_close(fabric);
        }
    }

    private static Handle opened(OpenResult out, String call, NativeFabricInfo info) {
        Status.check(out.status(), call, info.provider());
        return out.handle();
    }

    /** {@return whether a queue of a domain can have this wait object} */
    public static boolean isOffered(Handle domain, WaitObject object) {
        return openQueue(domain, object) == 0;
    }

    /** Opens a queue, and closes it. Returns 0, or why it cannot be opened. */
    private static int openQueue(Handle domain, WaitObject object) {
        OpenResult queue = DomainOps.fi_cq_open(domain, 1, CompletionFormat.DATA.value(), object.value(), -1);
        if (queue.status() != 0) { return queue.status(); }
        int status = object != WaitObject.FD
                ? 0
                : FidOps.fi_control(queue.handle(), FabricConstants.FI_GETWAIT).status();
        FidOps.fi_close(queue.handle());
        return status;
    }
}
