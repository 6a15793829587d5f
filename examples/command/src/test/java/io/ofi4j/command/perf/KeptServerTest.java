package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Release;
import io.ofi4j.command.Run;
import io.ofi4j.command.control.ControlChannel;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server with --keep outlives its clients, whatever one of them does to it over the fabric or to its process. */
@Tag("gate")
@Timeout(300)
class KeptServerTest {
    private static final Duration DEADLINE = Patience.seconds(60);
    /** Of another length than an encoded region. */
    private static final byte[] NO_REGION = new byte[39];

    @Test
    void aMessageLongerThanItsReceiveEndsThatClientAlone() throws Exception {
        try (Forked server = Forked.server("perf", "msg", "-p", "tcp;ofi_rxm", "--keep", "--timeout", "60");
                Open open = new Open(FabricHints.rma().capabilities(Capability.MSG).provider("tcp;ofi_rxm")
                        .source("127.0.0.1", null));
                AddressVector vector = open.domain.openAddressVector();
                Endpoint endpoint = open.domain.openEndpoint().bind(vector).bind(open.queue).enable();
                MemoryRegion message = open.domain.allocate(4096, Access.SEND);
                ControlChannel channel = connect(server)) {
            Setup setup = setup("msg", "tcp;ofi_rxm", endpoint.address().toBytes(), new byte[0]);
            channel.send(FrameType.SETUP, setup.encode(), DEADLINE);
            Ready ready = Ready.decode(channel.await(DEADLINE, Thread::yield).require(FrameType.READY));
            Peer there = vector.insert(EndpointAddress.of(ready.address(), endpoint.address().format()));
            endpoint.messages().send(message.slice(0, 4096), there, 1); // into a receive of 8 bytes

            requireRefusal(channel, open, open.domain::progress);
            requireService(server, "msg", "tcp;ofi_rxm", "rdm");
        }
    }

    /** The server reads where it is only when the connection comes. */
    @Test
    void aRegionThatIsNoneEndsThatClientAlone() throws Exception {
        try (Forked server = Forked.server("perf", "writedata", "-p", "tcp", "-e", "msg", "--keep", "--timeout", "60");
                Open open = new Open(FabricHints.rma().capabilities(Capability.RMA).endpointType(EndpointType.MSG)
                        .provider("tcp").source("127.0.0.1", null));
                ControlChannel channel = connect(server)) {
            channel.send(FrameType.SETUP, setup("writedata", "tcp with connections", new byte[0], NO_REGION).encode(),
                    DEADLINE);
            Ready ready = Ready.decode(channel.await(DEADLINE, Thread::yield).require(FrameType.READY));
            EndpointAddress there = EndpointAddress.of(ready.address());
            try (EventQueue events = open.fabric.openEventQueue();
                    Endpoint endpoint = open.domain.openEndpoint(open.domain.info().withDestination(there)).bind(events)
                            .bind(open.queue).enable()) {
                endpoint.connection().connect(there);

                requireRefusal(channel, open, events::progress);
            }
            requireService(server, "writedata", "tcp", "msg");
        }
    }

    @Test
    void aServerWithoutDescriptorsServesAgainWhenItHasSome() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep")) {
            requireService(server, "write", "shm", "rdm"); // so that it has opened what it opens once
            long open;
            try (Stream<Path> files = Files.list(Path.of("/proc/" + server.process().pid() + "/fd"))) {
                open = files.count();
            }
            limitFiles(server, Long.toString(open + 10));
            List<Socket> crowd = new ArrayList<>();
            for (int caller = 0; caller < 40; caller++) {
                crowd.add(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port())));
            }
            server.awaitError("(Cannot accept clients now)");
            for (Socket caller : crowd) {
                caller.close();
            }
            limitFiles(server, "4096");
            requireService(server, "write", "shm", "rdm");
        }
    }

    @Test
    void theTimeoutIsNotHowLongAServerWaitsForClients() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep", "--timeout", "1")) {
            Thread.sleep(3_000);
            requireService(server, "write", "shm", "rdm");
        }
    }

    private static void limitFiles(Forked server, String most) throws Exception {
        assertThat(new ProcessBuilder("prlimit", "--pid", Long.toString(server.process().pid()),
                "--nofile=" + most + ":4096").start().waitFor()).isZero();
    }

    private static Setup setup(String operation, String provider, byte[] address, byte[] region) {
        return new Setup(Release.VERSION, Libfabric.load().version().toString(), operation, provider, "8", 4096,
                Optional.of(new Conversation(new Layout(8, 4), operation.equals("writedata"))), address, region);
    }

    private static ControlChannel connect(Forked server) throws IOException {
        return new ControlChannel(SocketChannel
                .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port()))));
    }

    /** The server says to the client that it is no longer served. */
    private static void requireRefusal(ControlChannel channel, Open open, Runnable progress) {
        String[] said = {""};
        Waiting.YIELD.until(() -> {
            open.queue.poll((token, flags, length, data) -> {}, 16);
            progress.run();
            try {
                Optional<Frame> frame = channel.poll();
                if (frame.isPresent()) { frame.get().require(FrameType.ALIVE); }
                return false;
            } catch (ControlException e) {
                said[0] = e.getMessage();
                return true;
            }
        }, DEADLINE);
        assertThat(said[0]).contains("cannot be served");
    }

    private static void requireService(Forked server, String operation, String provider, String endpoint) {
        assertThat(server.process().isAlive()).isTrue();
        server.client("perf", operation, "-p", provider, "-e", endpoint, "-S", "8", "-I", "10", "-w", "1").succeeded();
        assertThat(server.process().isAlive()).isTrue();
    }

    /** What a client opens that speaks to the server by itself. */
    private static final class Open implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;

        Open(FabricHints hints) {
            Libfabric libfabric = Libfabric.load();
            fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
        }

        @Override
        public void close() {
            queue.close();
            domain.close();
            fabric.close();
        }
    }
}
