package io.ofi4j;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.Opened;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;

/** Opens endpoints, and rejects types that this library or a provider does not support. */
final class Endpoints {
    private Endpoints() {}

    static Endpoint open(Domain domain, FabricInfo info) {
        FoundInfo found = FoundInfo.ofSameDomain(info, domain.info());
        EndpointType type = info.endpoint().type();
        if (type == EndpointType.OTHER) {
            throw new UnsupportedOperationException("endpoints of the type that " + info.provider()
                    + " names here are not known to this release: request EndpointType.RDM, MSG or DGRAM");
        }
        if (info.destinationAddress().isEmpty() && found.chosenQuirks().has(Fact.ONE_DESTINATION)) {
            throw new IllegalArgumentException("an endpoint of " + info.provider() + " is opened for one destination: "
                    + "name it with FabricHints.destination or FabricInfo.withDestination(address)");
        }
        return open(domain, info, found.handle(), null);
    }

    static Endpoint open(Domain domain, ConnectionRequest request) {
        if (request.passiveEndpoint().fabric != domain.fabric()) {
            throw new IllegalArgumentException(request + " came to another fabric");
        }
        return domain.fabric().lock.alone(() -> {
            InfoHandle taken = request.take();
            try {
                return open(domain, request.info(), taken, request);
            } catch (FabricException | UnsupportedOperationException e) {
                request.giveBack(false);
                throw e;
            }
        });
    }

    private static Endpoint open(Domain domain, FabricInfo info, InfoHandle handle, ConnectionRequest request) {
        Opened out = domain.fabric().lock
                .alone(() -> DomainOps.fi_endpoint(domain.handle(), DataReceiveCount.reserved(info, handle)));
        Status.check(out.status(), "fi_endpoint", info.provider());
        domain.regions.quarantine.endpointOpened();
        return new Endpoint(domain, out.handle(), info, request);
    }
}
