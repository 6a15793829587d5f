package io.ofi4j.job;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Forked;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Pair;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Peers that come and go, strangers among them. */
@Tag("gate")
@Tag("once")
class PeerServerTest {
    private static final String SECRET = Rendezvous.newSecret();
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Duration SHORT = Duration.ofMillis(100);

    private final List<PeerLink> arrived = new ArrayList<>();
    private final List<PeerLink> gone = new ArrayList<>();

    private static PeerHello hello(int number, byte... data) {
        RemoteRegion region = new RemoteRegion(4096, 64, 7, Access.REMOTE_WRITE.bit());
        return new PeerHello(EndpointAddress.of(new InetSocketAddress("127.0.0.1", number)), List.of(region), data);
    }

    private static CompletableFuture<PeerLink> connecting(PeerServer server, PeerHello mine, Runnable onGone) {
        return inThread(() -> PeerLink.connect(server.address(), SECRET, mine, Pair.DEADLINE, onGone));
    }

    private static <T> CompletableFuture<T> inThread(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> Thread.ofVirtual().start(task));
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Waits for changes; the handlers note them. */
    private void await(PeerServer server) {
        assertThat(server.await(arrived::add, gone::add, Pair.DEADLINE)).as("something is told").isPositive();
    }

    /** The client's end of a link that the server has accepted. */
    private PeerLink accepted(PeerServer server, int number) throws Exception {
        return accepted(server, number, () -> {});
    }

    private PeerLink accepted(PeerServer server, int number, Runnable onGone) throws Exception {
        CompletableFuture<PeerLink> client = connecting(server, hello(number), onGone);
        Waiting.BACKOFF.until(() -> {
            server.poll(this::accept, gone::add);
            return client.isDone();
        }, Pair.DEADLINE);
        return get(client);
    }

    /** Also of one that has gone, which the server may not have seen yet. */
    private void accept(PeerLink link) {
        arrived.add(link);
        link.accept(hello(1));
    }

    private static void awaitState(PeerLink link, PeerLink.State state) {
        Waiting.BACKOFF.until(() -> link.state() == state, Pair.DEADLINE);
    }

    /** Nobody has a reason to, and a library of the program may interrupt all threads. */
    @Test
    void anInterruptOfItsThreadsEndsNothing() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET); PeerLink first = accepted(server, 2)) {
            List<Thread> threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("ofi4j-peer")).toList();
            assertThat(threads).hasSizeGreaterThanOrEqualTo(2);
            threads.forEach(Thread::interrupt);

            try (PeerLink second = accepted(server, 3)) {
                assertThat(first.state()).isEqualTo(PeerLink.State.OPEN);
                assertThat(second.state()).isEqualTo(PeerLink.State.OPEN);
                assertThat(ticks()).as("of threads that wait").isLessThan(5);
            }
        }
    }

    /** How much processor time the threads of links take in a short time, in the system's ticks, of 10 ms. */
    private static long ticks() throws Exception {
        long before = ticksUntilNow();
        Thread.sleep(SHORT);
        return ticksUntilNow() - before;
    }

    private static long ticksUntilNow() throws IOException {
        long all = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                if (!Files.readString(task.resolve("comm")).startsWith("ofi4j-peer")) { continue; }
                String stat = Files.readString(task.resolve("stat"));
                String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" "); // from the state on
                all += Long.parseLong(words[11]) + Long.parseLong(words[12]);
            }
        }
        return all;
    }

    @Test
    void bothSidesGetWhatTheOtherSays() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<PeerLink> client = connecting(server, hello(2, (byte) 1, (byte) 2), () -> {});
            await(server);
            PeerLink link = arrived.getFirst();
            assertThat(link.state()).isEqualTo(PeerLink.State.ARRIVED);
            assertThat(link.hello()).isEqualTo(hello(2, (byte) 1, (byte) 2));
            link.accept(hello(3));
            assertThat(link.state()).isEqualTo(PeerLink.State.OPEN);

            try (PeerLink far = get(client)) {
                assertThat(far.hello()).isEqualTo(hello(3));
                assertThat(far.isGone()).isFalse();
            }
        }
    }

    @Test
    void aHelloOfTheLargestSizeComesWhole() throws Exception {
        byte[] much = new byte[PeerHello.MAX_LENGTH - hello(1).encode().length];
        much[much.length - 1] = 7;
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<PeerLink> client = connecting(server, hello(2, much), () -> {});
            await(server);
            arrived.getFirst().accept(hello(3, much));

            assertThat(arrived.getFirst().hello().data()).isEqualTo(much);
            try (PeerLink far = get(client)) {
                assertThat(far.hello().data()).isEqualTo(much);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> hello(1).withData(new byte[much.length + 1]))
                    .withMessageContaining("may take 16384");
        }
    }

    @Test
    void aPeerThatClosesItsLinkHasLeft() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            accepted(server, 2).close();
            await(server);
            assertThat(gone).containsExactlyElementsOf(arrived);
            assertThat(gone.getFirst().state()).isEqualTo(PeerLink.State.LEFT);
        }
    }

    @Test
    void aServerThatClosesIsGoneForItsPeers() throws Exception {
        CompletableFuture<Void> told = new CompletableFuture<>();
        PeerServer server = PeerServer.listen(ANY_PORT, SECRET);
        try (PeerLink client = accepted(server, 2, () -> told.complete(null))) {
            server.close();
            get(told);
            assertThat(client.state()).isEqualTo(PeerLink.State.LEFT);
        }
    }

    @Test
    void whoClosesALinkIsNotToldThatItHasGone() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            PeerLink client = accepted(server, 2, calls::incrementAndGet);
            PeerLink another = accepted(server, 3);
            arrived.getFirst().close();
            awaitState(client, PeerLink.State.LEFT);
            another.close();
            await(server);
            assertThat(gone).containsExactly(arrived.getLast());
            assertThat(arrived.getFirst().state()).isEqualTo(PeerLink.State.CLOSED);
        }
        assertThat(calls).hasValue(1);
    }

    /** A client in a process of its own, which says that it is connected, and stays. */
    static final class Client {
        private Client() {}

        public static void main(String[] arguments) throws InterruptedException {
            InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(arguments[0]));
            try (PeerLink link = PeerLink.connect(server, arguments[1], hello(2), Pair.DEADLINE)) {
                System.out.println("connected to " + link.hello().address());
                Thread.sleep(Pair.DEADLINE);
            }
        }
    }

    private static Forked.Running start(PeerServer server) {
        return Forked.start(Client.class, "" + server.address().getPort(), SECRET);
    }

    @Test
    void aPeerThatIsKilledIsLostAndWakesWhoAwaitsAQueue() throws Exception {
        try (Pair pair = new Pair("shm"); CompletionQueue queue = pair.domain.openCompletionQueue()) {
            try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET, queue::signal)) {
                Forked.Running process = start(server);
                while (arrived.isEmpty()) {
                    queue.await((token, flags, length, data) -> {}, 8, Pair.DEADLINE);
                    server.poll(arrived::add, gone::add);
                }
                arrived.getFirst().accept(hello(1));
                process.awaitLine("connected");
                assertThat(arrived.getFirst().isGone()).isFalse();
                process.process().destroyForcibly();
                while (gone.isEmpty()) {
                    queue.await((token, flags, length, data) -> {}, 8, Pair.DEADLINE);
                    server.poll(arrived::add, gone::add);
                }
                assertThat(gone.getFirst().state()).isEqualTo(PeerLink.State.LOST);
            }
        }
    }

    @Test
    void aPeerThatIsStoppedIsNotGone() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            Forked.Running process = start(server);
            await(server);
            arrived.getFirst().accept(hello(1));
            process.awaitLine("connected");
            signal(process, "STOP");
            assertThat(server.await(arrived::add, gone::add, Duration.ofSeconds(1))).isZero();
            process.process().destroyForcibly();
            await(server);
            assertThat(gone.getFirst().state()).isEqualTo(PeerLink.State.LOST);
        }
    }

    private static void signal(Forked.Running process, String which) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + which, "" + process.process().pid()).start().waitFor()).isZero();
    }

    @Test
    void aPeerThatGoesBeforeItIsAcceptedIsGone() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            Forked.Running process = start(server);
            await(server);
            process.process().destroyForcibly();
            await(server);
            assertThat(gone).containsExactlyElementsOf(arrived);
            gone.getFirst().accept(hello(1));
            assertThat(gone.getFirst().state()).isEqualTo(PeerLink.State.LOST);
        }
    }

    @Test
    void aServerThatHasStoppedKeepsItsLinksAndFreesItsPort() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            PeerLink far = accepted(server, 1);
            PeerLink near = arrived.getFirst();

            server.stop();

            PeerServer.listen(server.address(), SECRET).close();
            assertThat(near.state()).isEqualTo(PeerLink.State.OPEN);
            far.close();
            await(server);
            assertThat(gone).containsExactly(near);
        }
    }

    @Test
    void aThousandPeersComeAndGo() throws Exception {
        int count = 1000;
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            List<CompletableFuture<PeerLink>> clients = new ArrayList<>();
            for (int number = 1; number <= count; number++) {
                PeerHello mine = hello(number);
                CompletableFuture<PeerLink> client = new CompletableFuture<>();
                Thread.ofVirtual()
                        .start(() -> client.complete(PeerLink.connect(server.address(), SECRET, mine, Pair.DEADLINE)));
                clients.add(client);
            }
            while (arrived.size() < count) {
                server.await(link -> {
                    arrived.add(link);
                    link.accept(link.hello());
                }, gone::add, Pair.DEADLINE);
            }
            Set<EndpointAddress> answers = new HashSet<>();
            for (CompletableFuture<PeerLink> client : clients) {
                answers.add(get(client).hello().address());
            }
            assertThat(answers).as("each got its own answer").hasSize(count);
            for (CompletableFuture<PeerLink> client : clients) {
                client.join().close();
            }
            while (gone.size() < count) {
                await(server);
            }
            assertThat(gone).containsExactlyInAnyOrderElementsOf(arrived);
            assertThat(gone).allMatch(link -> link.state() == PeerLink.State.LEFT);
        }
    }

    @Test
    void aProgramRefusesAPeerWithAReason() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<PeerLink> client = connecting(server, hello(2), () -> {});
            await(server);
            arrived.getFirst().refuse("there are enough");
            assertThatThrownBy(() -> get(client)).hasRootCauseMessage("there are enough").cause()
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("refused this peer");
            assertThatIllegalStateException().isThrownBy(() -> arrived.getFirst().accept(hello(1)))
                    .withMessageContaining("is closed");
        }
    }

    @Test
    void aProgramThatDoesNotAcceptIsSaid() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> PeerLink.connect(server.address(), SECRET, hello(2), Duration.ofSeconds(2)))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("Does it poll the server?");
            accepted(server, 3).close();
            Waiting.BACKOFF.until(() -> {
                server.poll(this::accept, gone::add);
                return gone.size() == arrived.size();
            }, Pair.DEADLINE);
            assertThat(arrived).extracting(PeerLink::hello).contains(hello(3));
            assertThat(gone).as("who has come has gone").containsExactlyInAnyOrderElementsOf(arrived);
        }
    }

    @Test
    void aClientMayBeThereBeforeItsServer() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.find());
        CompletableFuture<PeerLink> client = inThread(() -> PeerLink.connect(address, SECRET, hello(2), Pair.DEADLINE));
        Thread.sleep(100);
        try (PeerServer server = PeerServer.listen(address, SECRET)) {
            await(server);
            arrived.getFirst().accept(hello(1));
            get(client).close();
        }
    }

    /** The client does not ask the server that closes, but the one that listens there next. */
    @Test
    void whoWaitsToBeAcceptedTriesTheNextServer() throws Exception {
        PeerServer first = PeerServer.listen(ANY_PORT, SECRET);
        CompletableFuture<PeerLink> client = connecting(first, hello(2), () -> {});
        await(first);
        first.close();
        try (PeerServer second = PeerServer.listen(first.address(), SECRET)) {
            await(second);
            arrived.getLast().accept(hello(1));
            get(client).close();
        }
    }

    @Test
    void anotherSecretIsRefused() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            assertThatThrownBy(
                    () -> PeerLink.connect(server.address(), Rendezvous.newSecret(), hello(2), Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("same secret");
            accepted(server, 3).close();
            assertThat(arrived).hasSize(1);
        }
    }

    @Test
    void aRendezvousAndAPeerServerDoNotUnderstandEachOther() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET);
                Rendezvous rendezvous = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> PeerLink.connect(rendezvous.address(), SECRET, hello(2), Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("another release");
            assertThatThrownBy(() -> Rendezvous.join(server.address(), SECRET, SHORT))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("another release");
            accepted(server, 3).close();
        }
    }

    @Test
    void nobodyListeningIsSaid() {
        assertThatThrownBy(() -> PeerLink.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), SECRET,
                hello(2), SHORT)).isInstanceOf(RendezvousException.class).hasMessageContaining("Is the server running");
        assertThatThrownBy(() -> PeerLink.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1), SECRET,
                hello(2), SHORT)).isInstanceOf(RendezvousException.class).hasMessageContaining("nowhere.invalid");
    }

    @Test
    void aServerThatSaysNothingIsSaid() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(
                    () -> PeerLink.connect((InetSocketAddress) silent.getLocalSocketAddress(), SECRET, hello(2), SHORT))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("has not answered");
        }
    }

    @Test
    void anInterruptEndsAConnect() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread client = Thread.ofPlatform().daemon().start(() -> {
                try {
                    PeerLink.connect(server.address(), SECRET, hello(2), Pair.DEADLINE);
                } catch (RendezvousException e) {
                    interrupted.complete(
                            e.getMessage().contains("was interrupted") && Thread.currentThread().isInterrupted());
                }
            });
            await(server);
            client.interrupt();
            assertThat(get(interrupted)).isTrue();
        }
    }

    @Test
    void aThreadThatIsInterruptedConnectsToNobody() {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> PeerLink.connect(server.address(), SECRET, hello(2), Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessageEndingWith("the wait was interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** Greetings, halves of them, false lengths and other protocols. */
    @Test
    void strangersWhoSendAnythingDisturbNobody() throws Exception {
        String greeting = "OFIPEER\1" + "x".repeat(32);
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            for (String noise : List.of("", "GET / HTTP/1.1\r\n\r\n" + "x".repeat(40), greeting.substring(0, 20),
                    greeting, greeting + "\0\0\0\20" + "y".repeat(16), greeting + "\0\0\0\0",
                    greeting + "\177\377\377\377", greeting + "\377\377\377\377", greeting + "\200\0\0\0",
                    "OFIPEER\2" + "x".repeat(32), "OFIMEET\1" + "x".repeat(32))) {
                try (Socket stranger = new Socket(server.address().getAddress(), server.address().getPort())) {
                    stranger.setSoTimeout((int) Pair.DEADLINE.toMillis());
                    OutputStream out = stranger.getOutputStream();
                    out.write(noise.getBytes(ISO_8859_1));
                    stranger.shutdownOutput();
                    InputStream in = stranger.getInputStream();
                    assertThat(in.readAllBytes().length).as("its greeting, and a refusal").isLessThanOrEqualTo(44);
                } catch (SocketException e) {
                    assertThat(e).hasMessageContaining("reset");
                }
            }
            accepted(server, 3).close();
            assertThat(arrived).hasSize(1);
        }
    }

    /** More of them than there may be at a time: the oldest makes room. */
    @Test
    void strangersWhoSayNothingMakeRoomForOthers() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            for (int number = 0; number < 1100; number++) {
                strangers.add(new Socket(server.address().getAddress(), server.address().getPort()));
            }
            Socket oldest = strangers.getFirst();
            oldest.setSoTimeout((int) Pair.DEADLINE.toMillis());
            assertThat(oldest.getInputStream().readAllBytes()).as("a greeting, and the end").hasSize(40);
            accepted(server, 3).close();
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    /** The end of the connection is what a stranger sees after ten seconds. */
    @Test
    void aStrangerWhoSaysNothingIsClosed() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET);
                Socket stranger = new Socket(server.address().getAddress(), server.address().getPort())) {
            stranger.setSoTimeout((int) Pair.DEADLINE.toMillis());
            assertThat(stranger.getInputStream().readAllBytes()).as("a greeting, and the end").hasSize(40);
        }
    }

    @Test
    void aHandlerThatThrowsLosesNoOtherPeer() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<PeerLink> first = connecting(server, hello(2), () -> {});
            CompletableFuture<PeerLink> second = connecting(server, hello(3), () -> {});
            List<PeerLink> kept = new ArrayList<>();
            int thrown = 0;
            while (kept.size() < 2) {
                try {
                    server.await(link -> {
                        kept.add(link);
                        throw new UnsupportedOperationException("on purpose");
                    }, gone::add, Pair.DEADLINE);
                } catch (UnsupportedOperationException e) {
                    thrown++;
                }
            }
            assertThat(thrown).isEqualTo(2);
            kept.forEach(link -> link.accept(hello(1)));
            get(first).close();
            get(second).close();
        }
    }

    @Test
    void aCallbackThatThrowsHarmsNoLink() throws Exception {
        Forked.Result result = Forked.run(ThrowsInCallbacks.class);
        assertThat(result.output()).contains("on purpose", "still served");
    }

    static final class ThrowsInCallbacks {
        private ThrowsInCallbacks() {}

        public static void main(String[] arguments) throws Exception {
            Thread.setDefaultUncaughtExceptionHandler((thread, e) -> System.out.println(thread + ": " + e));
            try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET, () -> {
                throw new IllegalStateException("on purpose");
            })) {
                for (int number = 1; number <= 2; number++) {
                    CompletableFuture<PeerLink> client = connecting(server, hello(number), () -> {});
                    server.await(link -> link.accept(hello(9)), link -> {}, Pair.DEADLINE);
                    try (PeerLink link = get(client)) {
                        System.out.println(number == 1 ? "served" : "still served: " + link);
                    }
                    server.await(link -> {}, link -> {}, Pair.DEADLINE);
                }
            }
        }
    }

    @Test
    void aProcessWithoutAFreeDescriptorIsToldSo() {
        List<String> few = List.of("bash", "-c", "ulimit -n 200; exec \"$0\" \"$@\"");

        Forked.Result result = Forked.startBehind(few, OpensEverything.class).await();

        assertThat(result.output()).contains("no peer server: ", "no link: ", "no rendezvous: ", "not joined: ")
                .doesNotContain("Choose another port", "Is the server running");
    }

    static final class OpensEverything {
        private OpensEverything() {}

        public static void main(String[] arguments) throws Exception {
            List<FileChannel> files = new ArrayList<>();
            try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
                CompletableFuture<PeerLink> client = connecting(server, hello(2), () -> {}); // loads the classes
                server.await(link -> link.accept(hello(1)), link -> {}, Pair.DEADLINE);
                get(client);
                Rendezvous.serve(ANY_PORT, SECRET).close();
                try {
                    while (true) {
                        files.add(FileChannel.open(Path.of("/dev/null")));
                    }
                } catch (IOException e) { // there is no descriptor left
                    say("no peer server", () -> PeerServer.listen(ANY_PORT, SECRET));
                    say("no rendezvous", () -> Rendezvous.serve(ANY_PORT, SECRET));
                    say("no link", () -> PeerLink.connect(server.address(), SECRET, hello(2), Duration.ZERO));
                    say("not joined", () -> Rendezvous.join(server.address(), SECRET, Duration.ZERO));
                }
            }
        }

        private static void say(String what, Runnable opens) {
            try {
                opens.run();
            } catch (RendezvousException e) {
                System.out.println(what + ": " + e.getMessage());
            }
        }
    }

    @Test
    void aFullHeapEndsNoLink() throws Exception {
        Forked.Result result = Forked.run(FillsHeap.class, "-Xmx48m");
        assertThat(result.output()).contains("still watched");
    }

    static final class FillsHeap {
        private static final Duration FULL = Duration.ofMillis(500);
        private static Object full;

        private FillsHeap() {}

        public static void main(String[] arguments) throws Exception {
            try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
                CompletableFuture<PeerLink> client = connecting(server, hello(2), () -> {});
                server.await(link -> link.accept(hello(1)), link -> {}, Pair.DEADLINE);
                PeerLink link = get(client);
                long end = System.nanoTime() + FULL.toNanos();
                fill();
                while (System.nanoTime() < end) {
                    PeerLoop.wake();
                    Thread.yield();
                }
                full = null;
                link.close();
                server.await(one -> {}, one -> System.out.println("still watched: " + one), Pair.DEADLINE);
            }
        }

        private static void fill() {
            for (int bytes = 1 << 20; bytes > 0; bytes /= 2) {
                try {
                    while (true) {
                        full = new Object[]{full, new byte[bytes]};
                    }
                } catch (OutOfMemoryError e) {
                    continue; // with smaller ones
                }
            }
        }
    }

    @Test
    void aLinkIsAnsweredOnceAndByTheServer() throws Exception {
        try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET); PeerLink client = accepted(server, 2)) {
            PeerLink link = arrived.getFirst();
            assertThatIllegalStateException().isThrownBy(() -> link.accept(hello(1)))
                    .withMessageContaining("answered once");
            assertThatIllegalStateException().isThrownBy(() -> link.refuse("why not"))
                    .withMessageContaining("answered once");
            assertThatIllegalStateException().isThrownBy(() -> client.accept(hello(1)))
                    .withMessageContaining("answered once");
        }
    }

    @Test
    void aServerThatIsClosedSaysSo() throws Exception {
        PeerServer server = PeerServer.listen(ANY_PORT, SECRET);
        assertThatThrownBy(() -> PeerServer.listen(server.address(), SECRET)).isInstanceOf(RendezvousException.class)
                .hasMessageContaining("Choose another port");
        CompletableFuture<Integer> awaited = inThread(() -> server.await(arrived::add, gone::add, Pair.DEADLINE));
        server.close();
        server.close();
        assertThatThrownBy(() -> get(awaited)).hasRootCauseInstanceOf(IllegalStateException.class);
        assertThatIllegalStateException().isThrownBy(() -> server.poll(arrived::add, gone::add))
                .withMessageContaining("is closed");
    }

    /** The thread and the descriptors are gone a moment after the last socket. */
    @Test
    void nothingIsLeft() throws Exception {
        Forked.Result result = Forked.run(LeavesNothing.class);
        assertThat(result.output()).contains("nothing is left");
    }

    static final class LeavesNothing {
        private LeavesNothing() {}

        public static void main(String[] arguments) throws Exception {
            for (int round = 0; round < 30; round++) {
                long before = round == 0 ? -1 : sockets(); // the first one opens what the JDK keeps
                try (PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
                    CompletableFuture<PeerLink> client = connecting(server, hello(2), () -> {});
                    server.await(link -> link.accept(hello(1)), link -> {}, Pair.DEADLINE);
                    get(client).close();
                    server.await(link -> {}, link -> {}, Pair.DEADLINE);
                }
                Waiting.BACKOFF.until(() -> threads() == 0 && (before < 0 || sockets() == before), Pair.DEADLINE);
            }
            System.out.println("nothing is left");
        }

        private static long threads() {
            return Thread.getAllStackTraces().keySet().stream().filter(one -> one.getName().startsWith("ofi4j-peer"))
                    .count();
        }

        private static long sockets() {
            String[] descriptors = new File("/proc/self/fd").list();
            long count = 0;
            for (String one : descriptors) {
                try {
                    String target = Files.readSymbolicLink(Path.of("/proc/self/fd", one)).toString();
                    if (target.startsWith("socket:") || target.contains("eventpoll") || target.contains("eventfd")) {
                        count++;
                    }
                } catch (IOException e) {
                    continue; // closed meanwhile
                }
            }
            return count;
        }
    }

    @Test
    void theRegionOfAHelloIsWrittenByItsPeer() throws Exception {
        try (Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion inbox = pair.domain.allocate(64, Access.REMOTE_WRITE);
                PeerServer server = PeerServer.listen(ANY_PORT, SECRET)) {
            CompletableFuture<PeerLink> client = connecting(server, PeerHello.of(pair.endpoint, inbox.remote()),
                    () -> {});
            await(server);
            PeerHello hello = arrived.getFirst().hello();
            assertThat(hello.address()).isEqualTo(pair.endpoint.address());
            assertThat(hello.regions()).containsExactly(inbox.remote());
            arrived.getFirst().accept(hello);
            get(client).close();
        }
    }
}
