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
 * The address that an endpoint shall have. The provider is told right before it is needed: sockets keeps the socket of a passive
 * endpoint that is closed without having listened, and tcp is left without one by an address that it cannot have.
 */
public final class ChosenAddress {
    /** In the folder of shared memory, with what the provider itself takes for a name. */
    private static final Pattern NAME = Pattern.compile("fi_(shm|ns)://[A-Za-z0-9_-][A-Za-z0-9._:-]{0,219}\0");

    private final FabricInfo info;
    private final boolean isFixed;
    private EndpointAddress address;

    public ChosenAddress(FabricInfo info, Quirks quirks) {
        this.info = info;
        this.isFixed = quirks.has(Fact.FIXED_ADDRESSES);
    }

    /**
     * @throws IllegalArgumentException if the address is none of the provider's
     * @throws UnsupportedOperationException if the provider's endpoints have an address from the start, and take no other
     */
    public void choose(EndpointAddress wanted) {
        AddressFormats.require(info, wanted);
        if (isName() && !NAME.matcher(new String(wanted.toBytes(), StandardCharsets.US_ASCII)).matches()) {
            throw new IllegalArgumentException("an endpoint of the provider " + info.provider()
                    + " is called what EndpointAddress.ofName gives, or what another was called");
        }
        if (isFixed) {
            throw new UnsupportedOperationException("endpoints of the provider " + info.provider()
                    + " have an address from the start, and take no other: ask for it with FabricHints.source");
        }
        address = wanted;
    }

    /** Tells the provider, where an address was chosen. */
    public void tell(Handle endpoint) {
        if (address != null) {
            Status.checkOffered(CmOps.fi_setname(endpoint, address.toBytes()), "fi_setname", info.provider());
        }
    }

    private boolean isName() {
        return info.addressFormat() == FabricConstants.FI_ADDR_STR;
    }
}
