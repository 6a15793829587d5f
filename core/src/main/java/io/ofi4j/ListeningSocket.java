package io.ofi4j;

import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.Out;

/** The listening socket of a passive endpoint of providers whose passive endpoint must stay. */
final class ListeningSocket {
    private ListeningSocket() {
    }

    /** Closes it, and leaves the passive endpoint: an active endpoint takes the socket over, and is closed. */
    static void close(DomainList domains, Handle passiveEndpoint, Handle queue, FabricInfo info) {
        Out domain = domains.open(FoundInfo.of(info).handle());
        if (domain.status() != 0) {
            return;
        }
        Out endpoint = DomainOps.fi_endpoint(domain.handle(), FoundInfo.of(info).handle().takingOver(passiveEndpoint));
        if (endpoint.status() == 0) {
            FidOps.fi_bind(endpoint.handle(), queue, 0); // so that the queue no longer looks at the socket
            FidOps.fi_close(endpoint.handle());
        }
        domains.close(domain.handle());
    }
}
