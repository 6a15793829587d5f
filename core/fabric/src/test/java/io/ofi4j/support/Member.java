package io.ofi4j.support;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MulticastGroup;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;

/** An endpoint of {@code udp} that joins multicast groups, with a domain of its own, and what it has received. */
public final class Member implements AutoCloseable {
    public static final int LENGTH = 4096;
    /** A receive has room for one number. */
    public static final int NUMBER = Long.BYTES;
    public static final int RECEIVES = 64;
    private static final long SENT = -1;

    /** Of this machine only, and of this process. */
    private static final int SCOPE = 239 << 24 | 255 << 16;
    private static final int GROUPS = 64;

    public final Fabric fabric;
    public final Domain domain;
    public final CompletionQueue queue;
    public final AddressVector vector;
    public final Endpoint endpoint;
    public final MemoryRegion region;
    /** The numbers that came, in their order. */
    public final List<Long> received = new ArrayList<>();
    public int sent;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token == SENT) {
                sent++;
                return;
            }
            received.add(region.segment().get(ValueLayout.JAVA_LONG, token));
            receive(token);
        }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    };

    /** An endpoint with this address. */
    public Member(InetSocketAddress address) { this(hints(address)); }

    public Member(FabricHints hints) {
        fabric = Libfabric.load().openFabric(TestProviders.info(hints));
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).postTimeout(Pair.DEADLINE).enable();
        region = domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
        for (int i = 1; i <= RECEIVES && endpoint.info().capabilities().contains(Capability.RECV); i++) {
            receive((long) i * NUMBER);
        }
    }

    /** With the capability of groups. */
    public static FabricHints hints(InetSocketAddress address) {
        return FabricHints.datagrams().provider("udp").addCapabilities(Capability.MULTICAST)
                .source(EndpointAddress.of(address));
    }

    /** {@return why no group can be reached from here, or an empty text} */
    public static String obstacle() {
        try {
            source();
            return "";
        } catch (UncheckedIOException e) {
            return "this machine has no route to multicast groups (ip route add 224.0.0.0/4 dev eth0): "
                    + e.getMessage();
        }
    }

    /** The address of this machine from which groups are reached. */
    public static InetAddress source() {
        try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
            channel.connect(new InetSocketAddress(group(0), 1));
            InetAddress source = ((InetSocketAddress) channel.getLocalAddress()).getAddress();
            return source.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : source; // a route through lo
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An endpoint that reaches groups, and is not at the address of one. */
    public static Member atSource() {
        return new Member(new InetSocketAddress(source(), 0));
    }

    /** An endpoint at the address of a group, with a port of the system's choice. */
    public static Member at(int number) {
        return new Member(new InetSocketAddress(group(number), 0));
    }

    /** The address of one of this process's groups. */
    public static InetAddress group(int number) {
        int host = SCOPE | (int) (ProcessHandle.current().pid() * GROUPS + number & 0xffff);
        try {
            return InetAddress.getByAddress(ByteBuffer.allocate(Integer.BYTES).putInt(host).array());
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // it has the length of an address
        }
    }

    /** A group, with the port of this endpoint. */
    public EndpointAddress groupAtPort(int number) {
        return EndpointAddress.of(new InetSocketAddress(group(number), port()));
    }

    public int port() {
        return Short.toUnsignedInt(ByteBuffer.wrap(endpoint.address().toBytes()).getShort(Short.BYTES));
    }

    public MulticastGroup join(EndpointAddress group) { return endpoint.joinMulticast(group, Pair.DEADLINE); }

    private void receive(long token) { endpoint.messages().receive(region.slice(token, NUMBER), token); }

    /** Sends a number to a group. */
    public void send(MulticastGroup group, long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, number);
        group.send(region.slice(0, NUMBER), SENT);
    }

    /** Sends a number to a peer. */
    public void send(Peer peer, long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, number);
        endpoint.messages().send(region.slice(0, NUMBER), peer, SENT);
    }

    public void poll() { queue.poll(handler, RECEIVES); }

    /** Polls until it has received and sent so many numbers. */
    public void await(int receivedCount, int sentCount) {
        Waiting.YIELD.until(() -> {
            poll();
            return received.size() >= receivedCount && sent >= sentCount;
        }, Pair.DEADLINE);
    }

    @Override
    public void close() {
        endpoint.close();
        region.close();
        queue.close();
        vector.close();
        domain.close();
        fabric.close();
    }
}
