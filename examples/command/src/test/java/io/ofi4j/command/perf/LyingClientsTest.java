package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Release;
import io.ofi4j.command.Run;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.command.control.RawFrames;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random clients of a server with --keep, who send garbage, lie about lengths, sizes and addresses, stop in the middle
 * or are silent: honest clients between them are served. {@code -Dofi4j.test.seed} repeats what they did, and
 * {@code -Dofi4j.test.rounds} has more of them.
 */
@Tag("long") // an honest client may wait for as long as a lie takes the provider
@Timeout(600)
class LyingClientsTest {
    private static final long SEED = Long.getLong("ofi4j.test.seed", 1);
    private static final int ROUNDS = 2 * Integer.getInteger("ofi4j.test.rounds", 1);
    /** Fewer than the server has at a time, so that an honest one need not wait for those who are silent. */
    private static final int LIARS = 40;
    /** The bytes of a frame before its payload, of which the last four say how long that is. */
    private static final int HEADER = 12;
    private static final List<FrameType> TYPES = List.of(FrameType.values());

    @ParameterizedTest
    @CsvSource({"write,shm,rdm", "msg,shm,rdm", "tagged,tcp;ofi_rxm,rdm", "writedata,tcp;ofi_rxm,rdm",
            "read,sockets,rdm", "msg,sockets,rdm", "write,udp;ofi_rxd,rdm", "msg,tcp,msg", "writedata,tcp,msg"})
    void anHonestClientIsServedAmongLiars(String operation, String provider, String endpoint) throws Exception {
        Random random = new Random(SEED * 31 + operation.hashCode() + provider.hashCode());
        try (Forked server = Forked.server("perf", operation, "-p", provider, "-e", endpoint, "--keep", "--timeout",
                "10"); Far far = endpoint.equals("rdm") ? Far.unconnected(provider) : Far.CONNECTED) {
            List<Socket> open = new ArrayList<>();
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    for (int liar = 0; liar < LIARS; liar++) {
                        open.add(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port())));
                        lie(open.getLast(), random, operation, far);
                        if (random.nextBoolean()) { open.removeLast().close(); }
                    }
                    assertThat(server.process().isAlive()).as("with the seed %d", SEED).isTrue();
                    server.client("perf", operation, "-p", provider, "-e", endpoint, "-S", "8", "-I", "10", "-w", "1")
                            .succeeded();
                    close(open);
                }
            } finally {
                close(open);
            }
            assertThat(server.process().isAlive()).as("with the seed %d", SEED).isTrue();
        }
    }

    private static void close(List<Socket> open) throws IOException {
        for (Socket one : open) {
            one.close();
        }
        open.clear();
    }

    /** Sends some frames, most of them a setup first, each right, damaged, cut off, or garbage. */
    private static void lie(Socket socket, Random random, String operation, Far far) {
        try {
            if (random.nextInt(4) > 0) {
                send(socket, random, RawFrames.of(FrameType.SETUP, setup(random, operation, far)));
            }
            int frames = random.nextInt(6);
            for (int frame = 0; frame < frames; frame++) {
                send(socket, random, RawFrames.of(TYPES.get(random.nextInt(TYPES.size())), bytes(random, 64)));
            }
        } catch (IOException e) {
            return; // the server has closed the connection
        }
    }

    private static void send(Socket socket, Random random, byte[] frame) throws IOException {
        int length = frame.length;
        switch (random.nextInt(8)) {
            case 0 -> random.nextBytes(frame);
            case 1 -> frame[random.nextInt(length)] ^= (byte) (1 << random.nextInt(8));
            case 2 -> length = random.nextInt(length);
            case 3 -> ByteBuffer.wrap(frame).putInt(HEADER - 4,
                    random.nextBoolean() ? random.nextInt() : random.nextInt(9000));
            default -> {
                if (random.nextInt(4) == 0) { length = Math.min(length, HEADER); }
            }
        }
        socket.getOutputStream().write(frame, 0, length);
    }

    private static PayloadWriter setup(Random random, String operation, Far far) {
        boolean isOrdinary = random.nextInt(3) > 0;
        Layout layout = isOrdinary ? new Layout(8, 4) : new Layout(1 + random.nextInt(1 << 20), 1 + random.nextInt(64));
        long length = switch (random.nextInt(8)) {
            case 0 -> Long.MAX_VALUE;
            case 1 -> 1L << random.nextInt(63);
            default -> layout.regionLength();
        };
        String asked = random.nextInt(8) == 0 ? "read" : operation;
        Optional<Conversation> conversation = random.nextInt(4) == 0
                ? Optional.empty()
                : Optional.of(new Conversation(layout, random.nextBoolean()));
        return new Setup(Release.VERSION, Libfabric.load().version().toString(), asked, far.provider,
                random.nextInt(8) == 0 ? "many" : "8", length, conversation,
                random.nextInt(4) == 0 ? bytes(random, 64) : far.address,
                random.nextInt(4) == 0 ? bytes(random, 80) : far.region).encode();
    }

    /** What liars say of themselves where they do not lie. */
    private record Far(String provider, byte[] address, byte[] region, List<Runnable> closes) implements AutoCloseable {
        static final Far CONNECTED = new Far("tcp with connections", new byte[0], new byte[0], List.of());

        static Far unconnected(String provider) {
            FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.MSG).provider(provider);
            Libfabric libfabric = Libfabric.load();
            Fabric fabric = libfabric.openFabric(
                    libfabric.info(provider.equals("shm") ? hints : hints.source("127.0.0.1", null)).getFirst());
            Domain domain = fabric.openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector vector = domain.openAddressVector();
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            MemoryRegion region = domain.allocate(1 << 16, Access.REMOTE_WRITE, Access.REMOTE_READ);
            return new Far(provider, endpoint.address().toBytes(), region.remote().encode(),
                    List.of(endpoint::close, region::close, vector::close, queue::close, domain::close, fabric::close));
        }

        @Override
        public void close() { closes.forEach(Runnable::run); }
    }

    private static byte[] bytes(Random random, int most) {
        byte[] bytes = new byte[random.nextInt(most)];
        random.nextBytes(bytes);
        return bytes;
    }
}
