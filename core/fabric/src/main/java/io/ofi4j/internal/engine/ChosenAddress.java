package io.ofi4j.internal.engine;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The address that the program chose for an endpoint. The provider is told just before it needs it: sockets leaks the
 * socket of a passive endpoint that is closed before it listens, and tcp keeps none after an address that it cannot
 * bind.
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

    /** Checks and keeps the address. */
    public void choose(EndpointAddress wanted) {
        AddressFormats.require(info, wanted);
        if (info.addressFormat() == FabricConstants.FI_ADDR_STR
                && !NAME.matcher(new String(wanted.toBytes(), StandardCharsets.US_ASCII)).matches()) {
            throw new IllegalArgumentException("an endpoint of the provider " + info.provider()
                    + " has a name from EndpointAddress.ofName, or the name of another endpoint");
        }
        quirks.require(Fact.FIXED_ADDRESSES);
        address = wanted;
    }

    /** fi_setname, if an address was chosen. */
    public void tell(Handle endpoint) {
        if (address != null) {
            Status.checkOffered(CmOps.fi_setname(endpoint, address.toBytes()), "fi_setname", info.provider());
        }
    }
}
