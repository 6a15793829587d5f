package io.ofi4j.internal.quirks;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The names that programs may give to endpoints, where their provider has named endpoints. */
public final class EndpointNames {
    private static final int MAX_LENGTH = 200;
    private static final String PREFIX = "fi_shm://";
    /** The names that shm itself accepts for its file in shared memory. */
    private static final Pattern ADDRESS = Pattern.compile("fi_(shm|ns)://[A-Za-z0-9_-][A-Za-z0-9._:-]{0,219}\0");

    private EndpointNames() {}

    /**
     * {@return the address of an endpoint of this name}
     *
     * @throws IllegalArgumentException if no endpoint may have the name
     * @throws UnsupportedOperationException if the provider has no named endpoints
     */
    public static EndpointAddress address(Provider provider, String name) {
        if (!name.matches("[A-Za-z0-9._-]{1," + MAX_LENGTH + "}") || name.startsWith(".")) {
            throw new IllegalArgumentException("a name has 1 to " + MAX_LENGTH
                    + " letters, digits, dots, hyphens and underscores, and no leading dot, unlike '" + name + "'");
        }
        if (!provider.is("shm")) {
            throw new UnsupportedOperationException("named endpoints are not offered by the provider " + provider.name()
                    + ": choose an address with EndpointAddress.of(InetSocketAddress)");
        }
        return EndpointAddress.of((PREFIX + name + '\0').getBytes(StandardCharsets.US_ASCII), AddressFormat.STR);
    }

    /** Whether an address in text form is one that an endpoint may be given. */
    public static boolean isAllowed(EndpointAddress address) {
        return ADDRESS.matcher(new String(address.toBytes(), StandardCharsets.US_ASCII)).matches();
    }
}
