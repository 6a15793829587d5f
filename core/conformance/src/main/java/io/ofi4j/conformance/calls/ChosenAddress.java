package io.ofi4j.conformance.calls;

import io.ofi4j.conformance.Check;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An address that a program chooses for an endpoint. */
final class ChosenAddress {
    private static final String NAME = "ofi4j-verify-";
    /** Where a socket address has the port and the host. */
    private static final int PORT = 2;
    private static final int HOST = 4;
    private static int names;

    private ChosenAddress() {}

    /** An address of this machine that nobody else has; not the one of the hints, where there is another. */
    static EndpointAddress free(FabricInfo info) {
        return hasNames(info)
                ? info.addressNamed(NAME + ProcessHandle.current().pid() + "-" + names++)
                : EndpointAddress.of(new InetSocketAddress(host(info), 0));
    }

    /** Whether its endpoints have names in place of socket addresses. */
    private static boolean hasNames(FabricInfo info) {
        return info.addressFormat() == AddressFormat.STR;
    }

    /** All of 127.0.0.0/8 is this machine; a device has no other address. */
    private static String host(FabricInfo info) {
        String host = hostOf(info);
        return host.equals("127.0.0.1") ? "127.0.0.2" : host;
    }

    /** The address that the endpoints of a domain have. */
    static String hostOf(FabricInfo info) {
        byte[] address = info.sourceAddress().map(EndpointAddress::toBytes).orElse(new byte[0]);
        if (info.addressFormat() != AddressFormat.SOCKADDR_IN || address.length < HOST + Integer.BYTES) {
            throw new UnsupportedOperationException(
                    "addresses of the format " + info.addressFormatName() + " are not named by host and port");
        }
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(address, HOST, HOST + Integer.BYTES)).getHostAddress();
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e); // it has the length of an address
        }
    }

    /** States that an endpoint is where it should be. */
    static void require(EndpointAddress address, EndpointAddress chosen, FabricInfo info) {
        byte[] is = address.toBytes();
        if (hasNames(info)) {
            Check.holds("the name of the endpoint has " + NAME,
                    new String(is, StandardCharsets.US_ASCII).contains(NAME));
            return;
        }
        Check.equal("the host", Arrays.copyOfRange(is, HOST, is.length),
                Arrays.copyOfRange(chosen.toBytes(), HOST, is.length));
        Check.holds("the endpoint has a port", (is[PORT] | is[PORT + 1]) != 0);
    }
}
