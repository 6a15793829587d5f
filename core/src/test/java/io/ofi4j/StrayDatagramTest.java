package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** ofi_rxd believes whatever is sent to its ports, and ends the process: in a JVM of its own. */
@Timeout(240)
class StrayDatagramTest {
    private static final String PROVIDER = "udp;ofi_rxd";
    private static final int HEADER = 16;
    private static final int MOST = 2000;
    private static final int RANDOM = 3000;
    private static final byte VERSION = 2;
    private static final int LAST_TYPE = 13;
    private static final int[] NO_NUMBERS = {0, 1 << 20, Integer.MAX_VALUE, -1, Integer.MIN_VALUE};

    @Test
    void datagramsThatAreNotTheProvidersAreDropped() {
        Forked.Result result = Forked.run(Target.class);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Two endpoints that are sent all kinds of datagrams before and while they write to each other. */
    static final class Target {
        private final Random random = new Random(7);
        private final Pair pair;
        private final DatagramChannel channel;

        private Target(Pair pair, DatagramChannel channel) {
            this.pair = pair;
            this.channel = channel;
        }

        public static void main(String[] arguments) throws IOException {
            try (Pair pair = new Pair(PROVIDER);
                    MemoryRegion source = pair.domain.allocate(MOST, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(MOST, Access.REMOTE_WRITE);
                    DatagramChannel channel = DatagramChannel.open()) {
                Target stage = new Target(pair, channel);
                stage.sendEverything();
                pair.rma().write(source, 0, MOST, pair.far, target.remote(), 0, 1);
                pair.awaitCompletions(1);
                stage.sendEverything();
                pair.rma().write(source, 0, MOST, pair.far, target.remote(), 0, 2);
                pair.awaitCompletions(2);
            }
        }

        private void sendEverything() throws IOException {
            for (int length = 0; length < HEADER; length++) {
                send(header(length % (LAST_TYPE + 1), 1).limit(length));
            }
            for (int count = 0; count < RANDOM; count++) {
                byte[] bytes = new byte[random.nextInt(MOST)];
                random.nextBytes(bytes);
                if (bytes.length > 0 && bytes[0] == VERSION) {
                    bytes[0]++;
                }
                send(ByteBuffer.wrap(bytes));
            }
            for (int type = 0; type <= 255; type++) {
                sendOfType(type);
            }
        }

        private void sendOfType(int type) throws IOException {
            boolean isNone = type == 3 || type == 5 || type > LAST_TYPE;
            if (isNone) {
                send(header(type, 1));
            }
            for (int number : NO_NUMBERS) {
                send(header(type, number));
            }
            if (type > 8) { // these are longer
                send(header(type, 1).limit(HEADER + 15));
            }
        }

        /** A packet of which all is as it should be but for these. */
        private ByteBuffer header(int type, int number) {
            ByteBuffer packet = ByteBuffer.allocate(MOST).order(ByteOrder.nativeOrder());
            packet.put(0, VERSION).put(1, (byte) type).putInt(4, number);
            return packet.putLong(HEADER, number).putLong(HEADER + 8, number);
        }

        private void send(ByteBuffer packet) throws IOException {
            for (Endpoint endpoint : new Endpoint[]{pair.endpoint, pair.farEndpoint}) {
                int port = Short.toUnsignedInt(ByteBuffer.wrap(endpoint.address().toBytes()).getShort(2));
                channel.send(packet.duplicate(), new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            }
            pair.pollNear();
            pair.farQueue.progress();
        }
    }
}
