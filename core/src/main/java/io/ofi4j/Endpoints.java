package io.ofi4j;

import io.ofi4j.internal.CmOps;
import io.ofi4j.internal.DatagramFilter;
import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.InfoHandle;
import io.ofi4j.internal.Out;

/** Opens endpoints, and refuses what this library or a provider has none of. */
final class Endpoints {
    private Endpoints() {
    }

    static Endpoint open(Domain domain, FabricInfo info) {
        EndpointType type = info.endpoint().type();
        if (type != EndpointType.RDM && type != EndpointType.MSG) {
            throw new UnsupportedOperationException(
                    "endpoints of type " + type + " are not offered by this release; ask for EndpointType.RDM or MSG");
        }
        Verbs.requireDestination(info);
        return open(domain, info, info.handle(), null);
    }

    static Endpoint open(Domain domain, ConnectionRequest request) {
        if (request.passiveEndpoint().fabric != domain.fabric()) {
            throw new IllegalArgumentException(request + " came to another fabric");
        }
        InfoHandle taken = request.take();
        try {
            return open(domain, request.info(), taken, request);
        } catch (FabricException | UnsupportedOperationException e) {
            request.giveBack(false);
            throw e;
        }
    }

    private static Endpoint open(Domain domain, FabricInfo info, InfoHandle handle, ConnectionRequest request) {
        Handle endpoint = RetiredPorts.concerns(info)
                ? openOfDatagrams(domain, info, handle)
                : open(domain, info, handle);
        return new Endpoint(domain, endpoint, info, domain.nextNumber(), request);
    }

    /** What comes to it is filtered before the provider takes anything from the socket. */
    private static Handle openOfDatagrams(Domain domain, FabricInfo info, InfoHandle handle) {
        Handle endpoint = RetiredPorts.OF_THIS_PROCESS.openElsewhere(info, () -> open(domain, info, handle));
        CmOps.Name name = CmOps.fi_getname(endpoint);
        if (name.status() == 0) {
            DatagramFilter.attach(name.address());
        }
        return endpoint;
    }

    private static Handle open(Domain domain, FabricInfo info, InfoHandle handle) {
        Out out = DomainOps.fi_endpoint(domain.handle(), Verbs.withReceives(info, handle));
        FabricException.check(out.status(), "fi_endpoint", info.provider());
        return out.handle();
    }
}
