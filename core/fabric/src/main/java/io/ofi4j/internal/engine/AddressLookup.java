package io.ofi4j.internal.engine;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Resolves names with fi_av_insertsvc and fi_av_insertsym. It uses a scratch vector, because the application's own
 * vector must not be given an address twice.
 */
public final class AddressLookup {
    private static final int MAXIMUM_NAME_LENGTH = 63;
    private static final int MAXIMUM_PORT = 65_535;

    private final Handle domain;
    private final FabricInfo info;
    private final String node;
    private final String service;

    public AddressLookup(Handle domain, FabricInfo info, String node, String service) {
        this.domain = domain;
        this.info = info;
        this.node = requireName(node, "node");
        this.service = requireName(service, "service");
        if (node.matches("[0-9]+")) {
            throw new IllegalArgumentException("a node is a name or an address, not the number " + node);
        }
    }

    private static String requireName(String name, String what) {
        if (!name.matches("[A-Za-z0-9._:%-]{1," + MAXIMUM_NAME_LENGTH + "}")) {
            throw new IllegalArgumentException("a " + what + " has letters, digits and .:%_-, at most "
                    + MAXIMUM_NAME_LENGTH + ", not '" + name + "'");
        }
        return name;
    }

    public EndpointAddress resolve() {
        boolean hangs = NativeFabricInfo.of(info).chosenQuirks().has(Fact.SERVICE_INSERTIONS_HANG);
        return lookup("fi_av_insertsvc", 1,
                vector -> hangs
                        ? AvOps.fi_av_insertsym(vector, node, 1, service, 1)
                        : AvOps.fi_av_insertsvc(vector, node, service))
                .getFirst().orElseThrow(() -> unresolved(0));
    }

    /** {@return the addresses of successive ports of successive nodes, node by node; empty where nothing was found} */
    public List<Optional<EndpointAddress>> resolveSymmetric(int nodes, int services) {
        requireRange(nodes, services);
        return lookup("fi_av_insertsym", nodes * services,
                vector -> AvOps.fi_av_insertsym(vector, node, nodes, service, services));
    }

    private void requireRange(int nodes, int services) {
        if (nodes < 1 || services < 1 || (long) nodes * services > MAXIMUM_PORT) {
            throw new IllegalArgumentException(
                    "from 1 to " + MAXIMUM_PORT + " services in all can be inserted, not " + nodes + " x " + services);
        }
        if (!service.matches("[0-9]{1,5}") || Integer.parseInt(service) < 1
                || Integer.parseInt(service) + services - 1 > MAXIMUM_PORT) {
            throw new IllegalArgumentException("the first port and all after it must be from 1 to " + MAXIMUM_PORT
                    + ", not " + service + " and " + (services - 1) + " more");
        }
        if (!node.matches("[0-9.]+") && !node.contains(":")) { // libfabric would repeat the first name
            throw new IllegalArgumentException(
                    "successive nodes begin with a numeric address, not with '" + node + "': insert names one by one");
        }
    }

    private List<Optional<EndpointAddress>> lookup(String call, int count, Function<Handle, AvOps.Inserted> insertion) {
        int preferred = info.domain().addressVectorType().value();
        OpenResult out = DomainOps.fi_av_open(domain, preferred <= 0 ? FabricConstants.FI_AV_TABLE : preferred, count);
        Status.check(out.status(), "fi_av_open", info.provider());
        try {
            AvOps.Inserted inserted = insertion.apply(out.handle());
            if (inserted.status() == -Errno.ENOSYS) {
                throw new UnsupportedOperationException(call + " is not offered by the provider " + info.provider());
            }
            if (inserted.status() <= 0) { throw unresolved(inserted.status()); }
            boolean isInOrder = count > 1 && NativeFabricInfo.of(info).chosenQuirks().has(Fact.SYMMETRIC_HAS_ONE_PLACE);
            return IntStream.range(0, count).mapToObj(i -> isInOrder // nothing else is in this vector
                    ? address(out.handle(), i, i < inserted.status())
                    : address(out.handle(), inserted.addresses()[i], inserted.has(i))).toList();
        } finally {
            FidOps.fi_close(out.handle());
        }
    }

    private Optional<EndpointAddress> address(Handle vector, long number, boolean isFound) {
        if (!isFound) { return Optional.empty(); }
        AvOps.Found found = AvOps.fi_av_lookup(vector, number);
        return Optional.ofNullable(found.address()).map(bytes -> EndpointAddress.of(bytes, info.addressFormat()));
    }

    @Override
    public String toString() { return "the lookup of node '" + node + "' and service '" + service + "'"; }

    public FabricException unresolved(int status) {
        return new FabricException(
                "provider " + info.provider() + " finds no address for node '" + node + "' and service '" + service
                        + "'" + (status == 0 ? "" : " (status " + status + ")")
                        + ". Is the name known to this machine, and of the provider's address family?",
                "fi_av_insertsvc", Errno.ENODATA);
    }
}
