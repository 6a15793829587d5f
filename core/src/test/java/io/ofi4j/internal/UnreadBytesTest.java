package io.ofi4j.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers that leave a few bytes of a connection where they are until more have come. */
@Timeout(120)
class UnreadBytesTest {
    /** More than what the provider sockets is watched for, in case that it is. */
    private static final int LIMIT = 100;
    private static final int LEFT = 60;
    private static final int TOTAL = 1 << 20;
    private static final int PIECE = 200;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final long DEADLINE_NANOS = 30_000_000_000L;

    private final UnreadBytes unread = new UnreadBytes(LIMIT);
    private final long start = System.nanoTime();

    /** Both ends of a connection. */
    private record Ends(SocketChannel sender, Socket reader) implements AutoCloseable {
        static Ends open() throws IOException {
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                SocketChannel sender = SocketChannel
                        .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()));
                sender.configureBlocking(false);
                return new Ends(sender, server.accept());
            }
        }

        @Override
        public void close() throws IOException {
            sender.close();
            reader.close();
        }
    }

    @Test
    void aReaderThatLeavesAFewBytesUntilMoreHaveComeGetsEverything() throws IOException {
        try (Ends ends = Ends.open()) {
            ByteBuffer data = ByteBuffer.allocate(TOTAL);
            InputStream in = ends.reader.getInputStream();
            for (int taken = 0; taken < TOTAL - LEFT;) {
                while (ends.sender.write(data) > 0) {
                    continue;
                }
                while (in.available() > LEFT) { // in pieces, lest the system enlarges the buffer by itself
                    taken += in.readNBytes(Math.min(PIECE, in.available() - LEFT)).length;
                }
                if (taken < TOTAL - LEFT) {
                    unread.enlargeWhereTheyStay();
                    LockSupport.parkNanos(PAUSE_NANOS);
                    requireTime("after " + taken + " bytes nothing more came");
                }
            }
            assertThat(in.readNBytes(LEFT)).hasSize(LEFT);
        }
    }

    @Test
    void onlyBuffersInWhichAFewBytesStayAreEnlarged() throws IOException {
        try (Ends few = Ends.open(); Ends many = Ends.open(); Ends none = Ends.open(); Ends moving = Ends.open()) {
            few.sender.write(ByteBuffer.allocate(LEFT));
            many.sender.write(ByteBuffer.allocate(LIMIT));
            moving.sender.write(ByteBuffer.allocate(LEFT));
            awaitBytes(few, LEFT);
            awaitBytes(many, LIMIT);
            awaitBytes(moving, LEFT);
            int[] before = sizes(few, many, none, moving);

            assertThat(unread.enlargeWhereTheyStay()).isZero();
            moving.sender.write(ByteBuffer.allocate(1));
            awaitBytes(moving, LEFT + 1);
            unread.enlargeWhereTheyStay();

            int[] after = sizes(few, many, none, moving);
            assertThat(after[0]).isGreaterThan(before[0]);
            assertThat(after[1]).isEqualTo(before[1]);
            assertThat(after[2]).isEqualTo(before[2]);
            assertThat(after[3]).isEqualTo(before[3]);
            assertThat(few.reader.getInputStream().readNBytes(LEFT)).hasSize(LEFT);
        }
    }

    private void awaitBytes(Ends ends, int count) throws IOException {
        while (ends.reader.getInputStream().available() < count) {
            Thread.yield();
            requireTime(count + " bytes did not come");
        }
    }

    private void requireTime(String failure) {
        if (System.nanoTime() - start > DEADLINE_NANOS) {
            throw new AssertionError(failure);
        }
    }

    private static int[] sizes(Ends... all) throws IOException {
        int[] sizes = new int[all.length];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = all[i].reader.getReceiveBufferSize();
        }
        return sizes;
    }
}
