package io.ofi4j;

import io.ofi4j.EndpointBindings.Role;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;

/** Opens endpoints, and rejects types that this library or a provider does not support. */
final class Endpoints {
    private static final long RECEIVING = Capability.MSG.bit() | Capability.TAGGED.bit() | Capability.COLLECTIVE.bit();

    private Endpoints() {}

    static Endpoint open(Domain domain, FabricInfo info) {
        NativeFabricInfo found = NativeFabricInfo.requireSameDomain(info, domain.info());
        EndpointType type = info.endpoint().type();
        if (type == EndpointType.OTHER) {
            throw new UnsupportedOperationException("this release does not know the endpoint type in this info of the"
                    + " provider " + info.provider() + ": request EndpointType.RDM, MSG or DGRAM");
        }
        requireDestination(found);
        return open(domain, info, found.handle(), null);
    }

    private static void requireDestination(NativeFabricInfo info) {
        String destinations = info.chosenQuirks().refusal(Fact.ONE_DESTINATION);
        if (destinations != null && info.destinationAddress().isEmpty()) {
            throw new IllegalArgumentException(destinations);
        }
    }

    static Endpoint open(Domain domain, ConnectionRequest request) {
        if (request.passiveEndpoint().fabric != domain.fabric()) {
            throw new IllegalArgumentException(request + " came to a passive endpoint of another fabric");
        }
        return domain.fabric().lock.locked(() -> {
            InfoHandle taken = request.take();
            try {
                return open(domain, request.info(), taken, request);
            } catch (Throwable t) {
                request.release(false);
                throw t;
            }
        });
    }

    static Endpoint open(Domain domain, PassiveEndpoint passive) {
        if (passive.fabric != domain.fabric()) {
            throw new IllegalArgumentException(passive + " is of another fabric");
        }
        NativeFabricInfo found = NativeFabricInfo.requireSameDomain(passive.info(), domain.info());
        requireDestination(found);
        return passive.lock.locked(() -> passive
                .handOver(handle -> open(domain, passive.info(), found.handle().withHandle(handle), null)));
    }

    private static Endpoint open(Domain domain, FabricInfo info, InfoHandle handle, ConnectionRequest request) {
        InfoHandle reserved = DataReceiveCount.reserved(info, handle);
        boolean needsMore = (info.capabilityBits() & RECEIVING) != 0
                && domain.quirks.has(Fact.INSERTS_NEED_DIRECTED_RECEIVES);
        InfoHandle asked = needsMore ? reserved.withCapabilities(Capability.DIRECTED_RECV.bit()) : reserved;
        OpenResult out = domain.fabric().lock.locked(() -> DomainOps.fi_endpoint(domain.handle(), asked));
        Status.check(out.status(), "fi_endpoint", info.provider());
        return adopt(domain, out.handle(), info, Role.WHOLE, request, null);
    }

    private static Endpoint adopt(Domain domain, Handle handle, FabricInfo info, Role role, ConnectionRequest request,
            ScalableEndpoint scalable) {
        try {
            Endpoint endpoint = new Endpoint(domain, handle, info,
                    one -> new EndpointBindings(one, role, request, scalable));
            domain.regions.quarantine.endpointOpened();
            return endpoint;
        } catch (Throwable t) {
            closeAfter(t, domain, handle, info, role);
            throw t;
        }
    }

    private static void closeAfter(Throwable cause, Domain domain, Handle handle, FabricInfo info, Role role) {
        boolean hasPeers = role == Role.WHOLE && info.endpoint().type() != EndpointType.MSG;
        try {
            EndpointLifeCycle.closeUnbound(domain, handle, NativeFabricInfo.of(info).chosenQuirks(), hasPeers,
                    () -> FidOps.fi_close(handle));
        } catch (RuntimeException e) { // libfabric keeps it
            cause.addSuppressed(e);
        }
    }

    /** A context of a scalable endpoint. */
    static Endpoint context(Domain domain, Handle handle, FabricInfo info, Role role, ScalableEndpoint scalable) {
        return adopt(domain, handle, info, role, null, scalable);
    }

    static Endpoint openSharedReceive(Domain domain) {
        FabricInfo info = domain.info();
        requireOffered(info, info.domain().sharedReceiveContexts() > 0, "shared receive contexts");
        OpenResult out = DomainOps.fi_srx_context(domain.handle(), NativeFabricInfo.of(info).handle());
        Status.checkOffered(out.status(), "fi_srx_context", info.provider());
        return adopt(domain, out.handle(), info, Role.SHARED_RECEIVE, null, null);
    }

    static SharedTransmitContext openSharedTransmit(Domain domain) {
        FabricInfo info = domain.info();
        requireOffered(info, info.domain().sharedTransmitContexts() > 0, "shared transmit contexts");
        OpenResult out = DomainOps.fi_stx_context(domain.handle(), NativeFabricInfo.of(info).handle());
        Status.checkOffered(out.status(), "fi_stx_context", info.provider());
        return out.adopt(handle -> new SharedTransmitContext(domain, handle), FidOps::fi_close);
    }

    static ScalableEndpoint openScalable(Domain domain) {
        FabricInfo info = domain.info();
        boolean isOffered = info.domain().receiveContextsPerEndpoint() > 1
                || info.domain().transmitContextsPerEndpoint() > 1;
        requireOffered(info, isOffered && info.endpoint().type() != EndpointType.MSG,
                "scalable endpoints without connections");
        if (info.domain().dataProgress() == ProgressModel.MANUAL) {
            domain.quirks.require(Fact.CLOSED_CONTEXTS_ARE_VISITED);
        }
        OpenResult out = domain.fabric().lock
                .locked(() -> DomainOps.fi_scalable_ep(domain.handle(), NativeFabricInfo.of(info).handle()));
        Status.checkOffered(out.status(), "fi_scalable_ep", info.provider());
        return out.adopt(handle -> new ScalableEndpoint(domain, handle, info), FidOps::fi_close);
    }

    private static void requireOffered(FabricInfo info, boolean isOffered, String what) {
        if (!isOffered) {
            throw new UnsupportedOperationException(what + " are not offered by the provider " + info.provider()
                    + " with endpoints of type " + info.endpoint().type());
        }
    }
}
