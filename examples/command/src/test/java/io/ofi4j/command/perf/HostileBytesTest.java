package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Release;
import io.ofi4j.command.Run;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What strangers send to a server's port. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class HostileBytesTest {
    private static final int MAGIC = 0x4f464a50;
    private static final Duration DEADLINE = Patience.seconds(30);
    private static final int CROWD = 200;
    /** Of the crowd: each takes the server's time limit. */
    private static final int SILENT = 2;
    /** In KiB: of a heap that fills before it is collected, and of compiled code. */
    private static final long MOST_GROWTH = 96 << 10;
    private static final int MOST_THREADS = 12;
    /** In bytes, of what is alive on the heap: a fifth of what half of the crowd sends. */
    private static final long MOST_HEAP_GROWTH = 512 << 10;

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
            server.client("perf", "write", "-p", provider, "-S", "8", "-I", "10", "-w", "1").succeeded();
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
                Setup setup = new Setup(Release.VERSION, libfabric, "write", provider, "8", 4096, Optional.empty(),
                        address, new byte[0]);
                send(server, setupFrame(setup));
            }
            Setup greedy = new Setup(Release.VERSION, libfabric, "write", provider, "8", Long.MAX_VALUE,
                    Optional.empty(), new byte[16], new byte[0]);
            assertThat(send(server, setupFrame(greedy))).contains("allows");
            server.client("perf", "write", "-p", provider, "-S", "8", "-I", "10", "-w", "1").succeeded();
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    /** Where a server answers writes, it reads where the client's memory is. */
    @Test
    void regionsThatAreNone() throws IOException {
        Random random = new Random(4);
        String libfabric = io.ofi4j.Libfabric.load().version().toString();
        try (Forked server = Forked.server("perf", "writedata", "-p", "tcp;ofi_rxm", "--keep", "--timeout", "20")) {
            for (int length : new int[]{0, 1, 31, 32, 33, 64}) {
                byte[] region = new byte[length];
                random.nextBytes(region);
                Setup setup = new Setup(Release.VERSION, libfabric, "writedata", "tcp;ofi_rxm", "8", 4096,
                        Optional.of(new Conversation(new Layout(8, 4), true)), new byte[16], region);
                send(server, setupFrame(setup));
            }
            Run.of("perf", "writedata", "--ping-pong", "-p", "tcp;ofi_rxm", "127.0.0.1", "-P", server.port(), "-S", "8",
                    "-I", "10", "-w", "1").succeeded();
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    /** A server that measures the other direction would not know how to do these. */
    @ParameterizedTest
    @ValueSource(strings = {"write", "tagged"})
    void pingPongsThatThereAreNot(String operation) throws IOException {
        try (Forked server = Forked.server("perf", operation, "-p", "shm", "--keep", "--timeout", "20")) {
            for (long rate : new long[]{-1, 1000}) {
                for (long window : new long[]{1, 2}) {
                    if (operation.equals("write") || rate > 0 || window > 1) {
                        assertThat(send(server, numbersFrame(10, 10, -1, 0, rate, window, 1, 0, 1, 8)))
                                .contains("wants a ping-pong that there is not");
                    }
                }
            }
            server.client("perf", operation, "-p", "shm", "-S", "8", "-I", "10", "-w", "1").succeeded();
            assertThat(server.process().isAlive()).isTrue();
        }
    }

    private static byte[] numbersFrame(int type, long... numbers) throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(payload);
        for (long number : numbers) {
            out.writeLong(number);
        }
        return frame(1, type, payload.size(), payload.toByteArray());
    }

    /** A crowd: what each sends at random, in part, too much, or so slowly that nothing comes of it. */
    @Test
    void twoHundredStrangersLeaveNothingBehind() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep", "--timeout", "5")) {
            Random random = new Random(3);
            for (int stranger = 0; stranger < CROWD / 2; stranger++) {
                send(server, noise(random));
            }
            long resident = status(server, "VmRSS");
            long threads = status(server, "Threads");
            List<Socket> silent = new ArrayList<>();
            for (int stranger = 0; stranger < CROWD / 2; stranger++) {
                if (stranger % (CROWD / 2 / SILENT) == 0) { silent.add(halfAFrame(server)); }
                send(server, noise(random));
            }
            for (Socket socket : silent) {
                socket.close();
            }
            Run.of("perf", "write", "-p", "shm", "127.0.0.1", "-P", server.port(), "-S", "8", "-I", "10", "-w", "1",
                    "--timeout", "30").succeeded();

            assertThat(server.process().isAlive()).isTrue();
            assertThat(status(server, "VmRSS")).as("KiB, after " + resident).isLessThan(resident + MOST_GROWTH);
            assertThat(status(server, "Threads")).as("threads, after " + threads).isLessThan(threads + MOST_THREADS);
            assertThat(descriptors(server)).isLessThan(CROWD / 2);
        }
    }

    /** The heap may have room for it, and would be full in a week. */
    @Test
    void whatStrangersSendIsNotKept() throws Exception {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep", "--timeout", "60")) {
            Random random = new Random(4);
            for (int stranger = 0; stranger < CROWD / 2; stranger++) {
                send(server, noise(random));
            }
            long heap = liveHeap(server);
            for (int stranger = 0; stranger < CROWD / 2; stranger++) {
                send(server, noise(random));
            }
            assertThat(liveHeap(server)).as("bytes on the heap, after " + heap).isLessThan(heap + MOST_HEAP_GROWTH);
        }
    }

    /** One that says only that it is there is not served for ever. */
    @Test
    @Tag("nightly")
    void whoSaysOnlyThatItIsThereIsLeft() throws Exception {
        Duration limit = Collections.min(List.of(Patience.seconds(2), Duration.ofSeconds(5)));
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "--keep", "--timeout",
                Long.toString(limit.toSeconds()));
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port()))) {
            long end = System.nanoTime() + limit.multipliedBy(10).plus(DEADLINE).toNanos(); // it has ten limits
            assertThatThrownBy(() -> {
                while (System.nanoTime() < end) {
                    socket.getOutputStream().write(frame(1, 8, 0, new byte[0]));
                    Thread.sleep(200);
                }
            }).isInstanceOf(java.net.SocketException.class);

            server.client("perf", "write", "-p", "shm", "-S", "8", "-I", "10", "-w", "1").succeeded();
        }
    }

    private static byte[] noise(Random random) throws IOException {
        byte[] payload = new byte[random.nextInt(4096)];
        random.nextBytes(payload);
        return switch (random.nextInt(5)) {
            case 0 -> payload;
            case 1 -> frame(1, random.nextInt(12), payload.length, payload);
            case 2 -> frame(1, random.nextInt(12), Integer.MAX_VALUE - random.nextInt(1000), payload);
            case 3 -> Arrays.copyOf(frame(1, 1, 2048, payload), random.nextInt(14));
            default -> new byte[random.nextInt(1 << 18)];
        };
    }

    /** The beginning of one, and no more. */
    private static Socket halfAFrame(Forked server) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.port()));
        socket.getOutputStream().write(Arrays.copyOf(frame(1, 1, 100, new byte[100]), 20));
        return socket;
    }

    /** What the kernel says of the server. */
    private static long status(Forked server, String what) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + server.process().pid() + "/status"))) {
            return lines.filter(line -> line.startsWith(what + ":"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
        }
    }

    /** In bytes, when garbage is collected. */
    private static long liveHeap(Forked server) throws IOException, InterruptedException {
        Process histogram = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(server.process().pid()), "GC.class_histogram").redirectErrorStream(true).start();
        String said = new String(histogram.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(histogram.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(histogram.exitValue()).as(said).isZero();
        return said.lines().filter(line -> line.startsWith("Total")).findFirst()
                .map(line -> Long.parseLong(line.split(" +")[2])).orElseThrow(() -> new AssertionError(said));
    }

    private static long descriptors(Forked server) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + server.process().pid() + "/fd"))) {
            return files.count();
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
        Optional<Conversation> conversation = setup.conversation();
        out.writeLong(conversation.map(asked -> asked.layout().slots()).orElse(0));
        out.writeLong(conversation.map(asked -> asked.layout().size()).orElse(0L));
        out.writeLong(conversation.filter(Conversation::isPingPong).isPresent() ? 1 : 0);
        for (byte[] bytes : new byte[][]{setup.introduction(), setup.region()}) {
            out.writeShort(bytes.length);
            out.write(bytes);
        }
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
            socket.setSoTimeout((int) DEADLINE.toMillis());
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
