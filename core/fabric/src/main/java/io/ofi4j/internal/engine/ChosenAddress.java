package io.ofi4j.internal.engine;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.quirks.EndpointNames;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.util.function.Supplier;

/**
 * The address that the program chose for an endpoint. The provider gets it just before it needs it: sockets leaks the
 * socket of a passive endpoint that is closed before it listens, and tcp has no socket left after an address that it
 * cannot bind.
 */
public final class ChosenAddress {
    private final FabricInfo info;
    private final Quirks quirks;
    private EndpointAddress address;

    public ChosenAddress(FabricInfo info, Quirks quirks) {
        this.info = info;
        this.quirks = quirks;
    }

    /** Checks and stores the address. */
    public void choose(EndpointAddress wanted) {
        AddressFormats.require(info, wanted);
        if (info.addressFormat() == AddressFormat.STR && !EndpointNames.isAllowed(wanted)) {
            throw new IllegalArgumentException("the address of an endpoint of provider " + info.provider()
                    + " must come from FabricInfo.addressNamed, or from another endpoint");
        }
        quirks.require(Fact.FIXED_ADDRESSES);
        address = wanted;
    }

    /**
     * Calls fi_setname if an address was chosen, or if the provider's own name cannot be used.
     *
     * @param current calls fi_getname
     */
    public void apply(Handle endpoint, Supplier<EndpointAddress> current) {
        apply(endpoint, address != null ? address : quirks.anotherName(current));
    }

    /** {@return an info of an endpoint that has the chosen address from the start, where one was chosen} */
    public InfoHandle asSource(InfoHandle its) {
        return address == null ? its : its.withSource(address.toBytes(), its.addressFormat());
    }

    /** Calls fi_setname if an address was chosen. */
    public void apply(Handle endpoint) { apply(endpoint, address); }

    private void apply(Handle endpoint, EndpointAddress wanted) {
        if (wanted != null) {
            Status.checkOffered(CmOps.fi_setname(endpoint, wanted.toBytes()), "fi_setname", info.provider());
        }
    }
}
