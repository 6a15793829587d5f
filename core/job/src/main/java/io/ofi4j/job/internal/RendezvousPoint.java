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
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where rank 0 listens, and the secret, as one line: the secret, the name of its host, its port and its addresses,
 * separated by semicolons. It has at most 220 characters, so that every launcher carries it: as many addresses as fit.
 *
 * @param secret the secret of the rendezvous
 * @param addresses the addresses to try, one after the other
 */
public record RendezvousPoint(String secret, List<InetSocketAddress> addresses) {
    private static final int MAX_LINE = 220;
    private static final int FIELDS = 4;
    /** Interface, destination, gateway, flags, two counts, metric, mask, and more. */
    private static final Path ROUTES = Path.of("/proc/net/route");
    private static final int METRIC_FIELD = 6;
    private static final int MASK_FIELD = 7;

    /**
     * {@return the line for a server at this port, at one address, or at all addresses of this machine if it is the
     * wildcard}
     */
    public static String line(String secret, String host, InetSocketAddress at) {
        InetAddress own = at.getAddress();
        List<InetAddress> all = own.isAnyLocalAddress() ? localAddresses() : List.of(own);
        StringBuilder line = new StringBuilder(String.join(";", secret, host, at.getPort() + ";"));
        String separator = "";
        for (InetAddress address : all) {
            String text = separator + withoutScope(address);
            if (line.length() + text.length() > MAX_LINE) { break; }
            line.append(text);
            separator = ",";
        }
        return line.toString();
    }

    /** The address without the number of its interface, which is valid on this machine only. */
    private static String withoutScope(InetAddress address) {
        return address.getHostAddress().replaceFirst("%.*", "");
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
        if (addresses.isEmpty()) {
            throw new LauncherException(
                    "rank 0 on " + fields[1] + " has no address that other hosts can reach: is its network up?");
        }
        return new RendezvousPoint(fields[0], addresses);
    }

    /**
     * The addresses that other hosts may reach, in the order in which they are tried: those of the interface with the
     * default route first, then those of older interfaces before newer ones, which are bridges of containers more
     * often. IPv4 comes first.
     */
    private static List<InetAddress> localAddresses() {
        try {
            List<NetworkInterface> networks = Collections.list(NetworkInterface.getNetworkInterfaces());
            String main = defaultInterface();
            networks.sort(Comparator.comparing((NetworkInterface network) -> !network.getName().equals(main))
                    .thenComparing(NetworkInterface::getIndex));
            List<InetAddress> all = new ArrayList<>();
            for (NetworkInterface network : networks) {
                if (network.isUp() && !network.isLoopback()) {
                    all.addAll(Collections.list(network.getInetAddresses()));
                }
            }
            all.removeIf(InetAddress::isLinkLocalAddress);
            all.sort(Comparator.comparing(address -> address.getAddress().length)); // keeps the order of equals
            return all;
        } catch (SocketException e) {
            throw new LauncherException("the addresses of this machine cannot be read: " + e.getMessage(), e);
        }
    }

    /** {@return the interface of the default route with the lowest metric, or an empty text} See proc_net(5). */
    private static String defaultInterface() {
        try (Stream<String> routes = Files.lines(ROUTES)) {
            return routes.skip(1).map(line -> line.strip().split("\\s+"))
                    .filter(fields -> fields.length > MASK_FIELD && isZero(fields[1]) && isZero(fields[MASK_FIELD]))
                    .min(Comparator.comparing(fields -> Long.parseLong(fields[METRIC_FIELD]))).map(fields -> fields[0])
                    .orElse("");
        } catch (IOException | NumberFormatException e) {
            return ""; // then the interfaces are tried in their order
        }
    }

    private static boolean isZero(String hexadecimal) { return hexadecimal.matches("0+"); }

    /** {@return the name of this host, as the kernel knows it} */
    public static String thisHost() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
