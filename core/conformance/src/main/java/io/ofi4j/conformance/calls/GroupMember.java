package io.ofi4j.conformance.calls;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MulticastGroup;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
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

/** An endpoint for datagrams at the address of a multicast group, which receives one number of the group. */
final class GroupMember implements AutoCloseable {
    private static final int NUMBER = Long.BYTES;
    private static final long SENT = 1;
    /** Of this machine only, and of this process. */
    private static final int SCOPE = 239 << 24 | 255 << 16;

    /** The numbers that came. */
    final List<Long> received = new ArrayList<>();

    private final Subject subject;
    private final Fabric fabric;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final MemoryRegion region;
    private int sent;

    GroupMember(Subject subject) {
        this.subject = subject;
        fabric = Libfabric.load()
                .openFabric(Subject.info(
                        new Subject(subject.provider(), subject.type(), java.util.Optional.empty(), subject.deadline())
                                .hints().addCapabilities(Capability.MULTICAST)
                                .source(EndpointAddress.of(new InetSocketAddress(group(), 0)))));
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).postTimeout(subject.deadline()).enable();
        region = domain.allocate(2L * NUMBER, Access.SEND, Access.RECEIVE);
        endpoint.messages().receive(region.slice(NUMBER, NUMBER), NUMBER);
    }

    /** Why no group can be reached from here, or an empty text. */
    static String obstacle() {
        try (DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)) {
            channel.connect(new InetSocketAddress(group(), 1));
            return "";
        } catch (IOException e) {
            return "this machine has no route to multicast groups (ip route add 224.0.0.0/4 dev eth0): "
                    + e.getMessage();
        }
    }

    private static InetAddress group() {
        int host = SCOPE | (int) (ProcessHandle.current().pid() & 0xffff);
        try {
            return InetAddress.getByAddress(ByteBuffer.allocate(Integer.BYTES).putInt(host).array());
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e); // it has the length of an address
        }
    }

    MulticastGroup join() {
        int port = Short.toUnsignedInt(ByteBuffer.wrap(endpoint.address().toBytes()).getShort(Short.BYTES));
        return endpoint.joinMulticast(EndpointAddress.of(new InetSocketAddress(group(), port)), subject.deadline());
    }

    void send(MulticastGroup group, long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, number);
        group.send(region.slice(0, NUMBER), SENT);
    }

    /** Waits until it has sent and received a number. */
    void await() {
        Waiting.YIELD.until(() -> {
            queue.poll((token, flags, length, data) -> {
                if (token == SENT) {
                    sent++;
                } else {
                    received.add(region.segment().get(ValueLayout.JAVA_LONG, token));
                }
            }, 2);
            return sent == 1 && received.size() == 1;
        }, subject.deadline());
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
