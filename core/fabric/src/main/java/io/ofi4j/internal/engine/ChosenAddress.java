package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The address that the program chose for an endpoint. The provider gets it just before it needs it: sockets leaks the
 * socket of a passive endpoint that is closed before it listens, and tcp has no socket left after an address that it
 * cannot bind.
 */
public final class ChosenAddress {
    /** The names that shm itself accepts for its file in shared memory. */
    private static final Pattern NAME = Pattern.compile("fi_(shm|ns)://[A-Za-z0-9_-][A-Za-z0-9._:-]{0,219}\0");

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
        if (info.addressFormat() == FabricConstants.FI_ADDR_STR
                && !NAME.matcher(new String(wanted.toBytes(), StandardCharsets.US_ASCII)).matches()) {
            throw new IllegalArgumentException("the address of an endpoint of provider " + info.provider()
                    + " must be a name from EndpointAddress.ofName, or come from another endpoint");
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

    /** Calls fi_setname if an address was chosen. */
    public void apply(Handle endpoint) { apply(endpoint, address); }

    private void apply(Handle endpoint, EndpointAddress wanted) {
        if (wanted != null) {
            Status.checkOffered(CmOps.fi_setname(endpoint, wanted.toBytes()), "fi_setname", info.provider());
        }
    }
}
