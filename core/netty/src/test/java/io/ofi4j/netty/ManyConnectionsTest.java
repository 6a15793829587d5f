package io.ofi4j.netty;

import static java.util.function.Function.identity;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.ofi4j.Waiting;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Connections leave nothing behind. */
@Tag("long")
class ManyConnectionsTest extends FabricLoops {
    private static final int BYTES = 100;
    private static final int AT_ONCE = 1_000;
    private static final int ONE_AFTER_ANOTHER = 10_000;
    private static final int BEFORE = 200;
    private static final int REPORT = 1_000;

    /**
     * What a process has of the system.
     *
     * @param descriptors the number of each kind of open descriptors
     */
    private record Held(Map<String, Long> descriptors, long sharedFiles) {
        static Held now() {
            return new Held(
                    list("/proc/self/fd", "").map(Held::kind).flatMap(Optional::stream)
                            .collect(groupingBy(identity(), counting())),
                    list("/dev/shm", ProcessHandle.current().pid() + ":").count());
        }

        private static Stream<Path> list(String folder, String beginning) {
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                return files.filter(file -> file.getFileName().toString().startsWith(beginning)).toList().stream();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Empty if it was closed meanwhile. */
        private static Optional<String> kind(Path descriptor) {
            try {
                return Optional.of(Files.readSymbolicLink(descriptor).toString().replaceAll("\\d+", "N"));
            } catch (IOException e) {
                return Optional.empty();
            }
        }

        @Override
        public String toString() {
            return descriptors.values().stream().mapToLong(Long::longValue).sum() + " descriptors, " + sharedFiles
                    + " files";
        }

        /** What there is more of than before. */
        Map<String, Long> beyond(Held before) {
            return descriptors.entrySet().stream()
                    .filter(kind -> kind.getValue() > before.descriptors.getOrDefault(kind.getKey(), 0L))
                    .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
        }
    }

    /**
     * The JDK opens polls of its own when a virtual thread first waits for a socket, as one may that connects, and
     * keeps them.
     */
    @BeforeAll
    static void openPollsOfVirtualThreads() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket sender = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket receiver = server.accept()) {
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    receiver.getInputStream().read();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Waiting.YIELD.until(() -> reader.getState() == Thread.State.WAITING, Pair.DEADLINE);
            sender.getOutputStream().write(1);
            assertThat(reader.join(Pair.DEADLINE)).isTrue();
        }
    }

    private static void requireAsBefore(Held before) {
        Waiting.YIELD.tryUntil(() -> Held.now().beyond(before).isEmpty(), Pair.DEADLINE);
        assertThat(Held.now().beyond(before)).isEmpty();
        assertThat(Held.now().sharedFiles()).isLessThanOrEqualTo(before.sharedFiles());
    }

    private static void report(String what) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            System.out
                    .println(what + ": " + Held.now() + ", " + lines.filter(line -> line.startsWith("VmRSS")).toList());
        }
    }

    private static void comeAndGo(EventLoopGroup group, InetSocketAddress address, int seed) throws Exception {
        Reader reader = new Reader(seed, BYTES);
        Channel channel = get(client(group, reader).connect(address));
        write(channel, seed, BYTES);
        get(reader.done);
        get(channel.close());
    }

    @ParameterizedTest
    @MethodSource("providers")
    void oneAfterAnother(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        EventLoopGroup group = group(provider);
        for (int i = 0; i < BEFORE; i++) {
            comeAndGo(group, address, i);
        }
        Held before = Held.now();
        report(provider + ", before");
        for (int i = 0; i < ONE_AFTER_ANOTHER; i++) {
            comeAndGo(group, address, i);
            if (i % REPORT == 0) { report(provider + ", " + i + " connections"); }
        }
        report(provider + ", after");
        requireAsBefore(before);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void manyAtOnce(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        EventLoopGroup group = group(provider);
        comeAndGo(group, address, 0);
        Held before = Held.now();
        report(provider + ", before");
        List<Reader> readers = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            Reader reader = new Reader(i, BYTES);
            readers.add(reader);
            connects.add(client(group, reader).connect(address));
        }
        List<Channel> channels = new ArrayList<>();
        for (ChannelFuture connect : connects) {
            channels.add(get(connect));
        }
        report(provider + ", " + AT_ONCE + " at once");
        for (int i = 0; i < AT_ONCE; i++) {
            write(channels.get(i), i, BYTES);
        }
        for (Reader reader : readers) {
            get(reader.done);
        }
        for (Channel channel : channels) {
            channel.close();
        }
        for (Channel channel : channels) {
            get(channel.closeFuture());
        }
        report(provider + ", after");
        requireAsBefore(before);
    }
}
