package io.ofi4j;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The provider sockets takes the header of a message from its connection as a whole, and TCP may have no room for the rest of one
 * while its beginning is not taken. Here a peer fills connections before anything is taken, with writes of which each begins a
 * few bytes further than on the connection before, so that the room ends within a header now and then. It speaks the provider's
 * protocol by hand: what it sends is in one piece then, as if it had been waiting for long.
 */
@Timeout(240)
class PartialHeaderTest {
    private static final int HEADER = 24;
    private static final int PLACE = 24;
    private static final int ACKNOWLEDGEMENT = 40;
    private static final byte VERSION = 2;
    private static final byte WRITE = 3;
    private static final int LENGTH = 200;
    /** Less than a header has. */
    private static final int STEP = 20;
    /** More than there is room for at first, several times. */
    private static final int MESSAGES = 3000;

    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {
        // Others' operations.
    };

    @Test
    void connectionsDoNotStallWhereTheRoomEndsInAHeader() throws IOException {
        FabricHints hints = TestProviders.hints("sockets").dataProgress(ProgressModel.MANUAL);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                MemoryRegion region = domain.allocate(2 * LENGTH, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
            for (int shift = 0; shift < LENGTH; shift += STEP) {
                try (SocketChannel peer = connect(endpoint.address())) {
                    write(peer, messages(region.remote(), shift), queue);
                }
            }
        }
    }

    private static SocketChannel connect(EndpointAddress address) throws IOException {
        int port = Short.toUnsignedInt(ByteBuffer.wrap(address.toBytes()).getShort(2));
        SocketChannel peer = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        peer.setOption(StandardSocketOptions.TCP_NODELAY, true).configureBlocking(false);
        return peer;
    }

    private static ByteBuffer messages(RemoteRegion region, int shift) {
        ByteBuffer messages = ByteBuffer.allocateDirect((MESSAGES + 1) * LENGTH).order(ByteOrder.nativeOrder());
        for (int number = 0; number < MESSAGES; number++) {
            int length = number == 0 ? HEADER + PLACE + 1 + shift : LENGTH;
            int end = messages.position() + length;
            messages.put(VERSION).put(WRITE).put((byte) 0).put((byte) 1).putInt(0);
            messages.putLong(0).putLong(bigEndian(length));
            messages.putLong(region.base()).putLong(length - HEADER - PLACE).putLong(region.key());
            messages.position(end);
        }
        return messages.flip();
    }

    private static long bigEndian(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value);
    }

    /** Until there is no more room, and then until everything was acknowledged. */
    private static void write(SocketChannel peer, ByteBuffer messages, CompletionQueue queue) throws IOException {
        while (messages.hasRemaining() && peer.write(messages) > 0) {
            continue;
        }
        ByteBuffer acknowledgements = ByteBuffer.allocate(MESSAGES * ACKNOWLEDGEMENT);
        long start = System.nanoTime();
        while (acknowledgements.hasRemaining()) {
            queue.poll(NOTHING, 64);
            peer.write(messages);
            peer.read(acknowledgements);
            if (System.nanoTime() - start > Pair.DEADLINE.toNanos()) {
                throw new AssertionError("after " + acknowledgements.position() / ACKNOWLEDGEMENT + " of " + MESSAGES
                        + " writes nothing came of the others");
            }
        }
    }
}
