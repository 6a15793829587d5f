package io.ofi4j.internal.engine;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;

/** Closes the listening socket of a passive endpoint that itself must stay open in the provider. */
public final class ListeningSocket {
    /** Opens an active endpoint that takes the socket over, and closes that; inside the fabric's lock. */
    public static void close(Handle fabric, Handle passiveEndpoint, Handle queue, FabricInfo info) {
        OpenResult domain = FabricOps.fi_domain(fabric, NativeFabricInfo.of(info).handle());
        if (domain.status() != 0) { return; }
        OpenResult endpoint = DomainOps.fi_endpoint(domain.handle(),
                NativeFabricInfo.of(info).handle().withHandle(passiveEndpoint));
        if (endpoint.status() == 0) {
            FidOps.fi_bind(endpoint.handle(), queue, 0); // so that the queue no longer polls the socket
            FidOps.fi_close(endpoint.handle());
        }
        FidOps.fi_close(domain.handle());
    }
}
