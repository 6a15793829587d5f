package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.Errno;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Joins of multicast groups that would fail. udp leaves a group when it is closed, also one that it could not join;
 * that fails, and the endpoint stays open with the group. From 1.15 to today's main no commit has changed it.
 */
final class UdpJoins extends Quirk {
    private static final String UPSTREAM = """
            A group that could not be joined, or whose endpoint only sends, cannot be closed, and neither can its \
            endpoint.""";
    private static final String NAME = "udp";
    private static final Path LIMIT = Path.of("/proc/sys/net/ipv4/igmp_max_memberships");
    private static final int LIMIT_ROOM = 64;
    private static final int SOCKADDR_IN_LENGTH = 16;
    private static final int HOST = 4;
    private static final int HOST_END = 8;

    UdpJoins() {
        super("udp-joins", provider -> provider.is(NAME), VersionRange.from(1, 15), UPSTREAM, "MulticastTest",
                Fact.SENDERS_GROUPS_STAY);
    }

    @Override
    protected void beforeJoin(EndpointAddress group, List<EndpointAddress> joined) {
        if (group.toBytes().length != SOCKADDR_IN_LENGTH) { return; } // udp itself refuses others
        byte[] host = host(group);
        joined.stream().filter(other -> Arrays.equals(host(other), host)).findFirst().ifPresent(other -> {
            throw new IllegalStateException("the endpoint is a member of " + other
                    + " already: it joins an address once, with all ports of it");
        });
        if (joined.size() >= limit()) { throw failure(Errno.ENOBUFS, group); }
        if (!hasRoute(host)) { throw failure(Errno.ENODEV, group); }
    }

    private static byte[] host(EndpointAddress address) {
        return Arrays.copyOfRange(address.toBytes(), HOST, HOST_END);
    }

    private static RuntimeException failure(int errno, EndpointAddress group) {
        return Status.exception(-errno, "fi_join", " of " + group, NAME);
    }

    /** How many groups a socket may join. The file has its number for the first read alone, which needs room for it. */
    private static int limit() {
        try (InputStream file = Files.newInputStream(LIMIT)) {
            return Integer.parseInt(new String(file.readNBytes(LIMIT_ROOM), StandardCharsets.US_ASCII).strip());
        } catch (IOException | NumberFormatException e) { // the kernel decides
            return Integer.MAX_VALUE;
        }
    }

    /** Whether the system knows an interface for a group. To connect a socket of datagrams sends nothing. */
    private static boolean hasRoute(byte[] host) {
        try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
            return isConnected(channel, new InetSocketAddress(InetAddress.getByAddress(host), 1));
        } catch (IOException e) { // no file can be opened
            return true;
        }
    }

    private static boolean isConnected(DatagramChannel channel, InetSocketAddress group) {
        try {
            channel.connect(group);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
