package io.ofi4j.job.internal;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Where rank 0 listens, and the secret, as one line: the secret, the name of its host, its port and its addresses,
 * separated by semicolons. It has at most 220 characters, so that every launcher carries it.
 *
 * @param secret the secret of the rendezvous
 * @param addresses the addresses to try, one after the other
 */
public record RendezvousPoint(String secret, List<InetSocketAddress> addresses) {
    private static final int MAX_ADDRESSES = 3;
    private static final int FIELDS = 4;

    /**
     * {@return the line for a server at this port, at one address, or at all addresses of this machine if it is the
     * wildcard}
     */
    public static String line(String secret, String host, InetSocketAddress at) {
        InetAddress own = at.getAddress();
        List<InetAddress> all = own.isAnyLocalAddress() ? localAddresses() : List.of(own);
        return String.join(";", secret, host, Integer.toString(at.getPort()),
                String.join(",", all.stream().limit(MAX_ADDRESSES).map(InetAddress::getHostAddress).toList()));
    }

    /** Reads a line on a host of this name. A server on the same host is reached through the loopback interface too. */
    public static RendezvousPoint of(String line, String host) {
        String[] fields = line.split(";", -1);
        if (fields.length != FIELDS) {
            throw new LauncherException("the launcher brought '" + line.replaceFirst("^[^;]*", "…")
                    + "' from rank 0: do all ranks run the same release?");
        }
        int port = Integer.parseInt(fields[2]);
        List<InetSocketAddress> addresses = new ArrayList<>();
        if (fields[1].equals(host)) { addresses.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)); }
        Arrays.stream(fields[3].split(",")).filter(one -> !one.isEmpty())
                .forEach(one -> addresses.add(new InetSocketAddress(one, port)));
        return new RendezvousPoint(fields[0], addresses);
    }

    private static List<InetAddress> localAddresses() {
        try {
            List<InetAddress> all = new ArrayList<>();
            for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                if (network.isUp() && !network.isLoopback()) {
                    all.addAll(Collections.list(network.getInetAddresses()));
                }
            }
            all.removeIf(InetAddress::isLinkLocalAddress);
            all.sort((one, other) -> one.getAddress().length - other.getAddress().length); // IPv4 first
            return all;
        } catch (SocketException e) {
            throw new LauncherException("the addresses of this machine cannot be read: " + e.getMessage(), e);
        }
    }

    /** {@return the name of this host, as the kernel knows it} */
    public static String thisHost() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
