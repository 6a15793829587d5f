package io.ofi4j.examples.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.examples.Forked;
import io.ofi4j.examples.Release;
import io.ofi4j.examples.Run;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What strangers send to a server's port. */
class HostileBytesTest {
    private static final int MAGIC = 0x4f464a50;
    private static final int DEADLINE_MILLIS = 10_000;

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void strangersAreIgnoredAndTheClientIsServed(String provider) throws IOException {
        try (Forked server = Forked.server("perf", "write", "-p", provider, "--timeout", "20")) {
            Random random = new Random(1);
            send(server, "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            send(server, new byte[0]);
            send(server, new byte[]{'O', 'F'});
            send(server, new byte[1 << 20]);
            send(server, frame(1, 1, Integer.MAX_VALUE, new byte[100]));
            send(server, frame(1, 1, -1, new byte[100]));
            send(server, frame(1, 99, 0, new byte[0]));
            send(server, frame(1, 9, 0, new byte[0]));
            send(server, frame(1, 1, 0, new byte[0]));
            for (int run = 0; run < 50; run++) {
                byte[] payload = new byte[random.nextInt(2048)];
                random.nextBytes(payload);
                send(server, frame(1, random.nextInt(12), payload.length, payload));
            }
            Run.of("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S", "8", "-I", "10", "-w", "1")
                    .succeeded();
            Run run = server.await();
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.err()).contains("It is ignored.").doesNotContain("\tat ");
        }
    }

    @Test
    void otherVersionIsSaidToBoth() throws IOException {
        try (Forked server = Forked.server("perf", "write", "-p", "shm")) {
            String answer = send(server, frame(2, 1, 0, new byte[0]));
            assertThat(answer).contains("version 2", "same release");
            server.await().failed(1, "speaks version 2", "same release");
        }
    }

    /** A client that knows the protocol, but whose address is not one. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void addressesThatAreNone(String provider) throws IOException {
        Random random = new Random(2);
        String libfabric = io.ofi4j.Libfabric.load().version().toString();
        try (Forked server = Forked.server("perf", "write", "-p", provider, "--keep", "--timeout", "20")) {
            for (int length : new int[]{0, 1, 15, 16, 17, 28, 64, 300, 511, 512}) {
                byte[] address = new byte[length];
                random.nextBytes(address);
                Setup setup = new Setup(Release.VERSION, libfabric, "write", provider, "8", 4096, address);
                send(server, setupFrame(setup));
            }
            Setup greedy = new Setup(Release.VERSION, libfabric, "write", provider, "8", Long.MAX_VALUE, new byte[16]);
            assertThat(send(server, setupFrame(greedy))).contains("allows");
            Run.of("perf", "write", "-p", provider, "127.0.0.1", "-P", server.port(), "-S", "8", "-I", "10", "-w", "1")
                    .succeeded();
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    private static byte[] setupFrame(Setup setup) throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(payload);
        for (String text : new String[]{setup.release(), setup.libfabric(), setup.operation(), setup.provider(),
                setup.sizes()}) {
            out.writeUTF(text); // the same format for ASCII
        }
        out.writeLong(setup.regionLength());
        out.writeShort(setup.address().length);
        out.write(setup.address());
        return frame(1, 1, payload.size(), payload.toByteArray());
    }

    private static byte[] frame(int version, int type, int length, byte[] payload) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(MAGIC);
        out.writeShort(version);
        out.writeShort(type);
        out.writeInt(length);
        out.write(payload);
        return bytes.toByteArray();
    }

    /** {@return what the server answers, as text} */
    private static String send(Forked server, byte[] bytes) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port()))) {
            socket.setSoTimeout(DEADLINE_MILLIS);
            try {
                socket.getOutputStream().write(bytes);
                socket.shutdownOutput();
                return new String(new DataInputStream(socket.getInputStream()).readAllBytes(),
                        StandardCharsets.ISO_8859_1);
            } catch (java.net.SocketException e) {
                return ""; // the server had heard enough
            }
        }
    }
}
