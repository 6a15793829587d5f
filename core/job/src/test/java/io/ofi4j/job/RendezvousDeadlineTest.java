package io.ofi4j.job;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A deadline is that of the whole call, whatever a server, another thread or a stranger does. */
@Tag("gate")
@Timeout(600)
@Tag("once") // what it is about is the rendezvous, not libfabric
class RendezvousDeadlineTest {
    private static final String SECRET = Rendezvous.newSecret();
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Duration BRIEF = Duration.ofMillis(500);
    /** Seconds. */
    private static final int MUCH_LATER = 18;
    /** Slow bytes of a {@link Trickle}: fewer than a single answer has. Who waits for all of it, waits for ever. */
    private static final int FEW = 18;
    /** Four times as many as {@link FewDescriptors} has descriptors for. */
    private static final int STRANGERS = 120;

    /**
     * Passes on what a client sends, and what the server sends a byte each second, from some byte on, and nothing after
     * a few of them, until it is told to hurry.
     */
    private static final class Trickle implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final long promptBytes;
        private final CountDownLatch hurry = new CountDownLatch(1);
        private volatile boolean isDeaf;
        private final List<Socket> sockets = new ArrayList<>();

        Trickle(InetSocketAddress server, long promptBytes) throws IOException {
            this.promptBytes = promptBytes;
            start(() -> {
                Socket client = listener.accept();
                Socket out = new Socket(server.getAddress(), server.getPort());
                synchronized (sockets) {
                    sockets.add(client);
                    sockets.add(out);
                }
                start(() -> take(client.getInputStream(), out.getOutputStream()));
                start(() -> pass(out.getInputStream(), client.getOutputStream()));
            });
        }

        /** What a thread does until its socket is closed. */
        private interface Work {
            void run() throws IOException;
        }

        private static void start(Work work) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    work.run();
                } catch (IOException e) {
                    return; // closed
                }
            });
        }

        private void take(InputStream from, OutputStream to) throws IOException {
            byte[] some = new byte[4096];
            while (!isDeaf) {
                int count = from.read(some);
                if (count < 0) { return; }
                if (!isDeaf) { to.write(some, 0, count); }
            }
        }

        /** Takes no more of what the client sends. */
        void stopTaking() { isDeaf = true; }

        private void pass(InputStream from, OutputStream to) throws IOException {
            long passed = 0;
            for (int next = from.read(); next >= 0; next = from.read()) {
                boolean isSlow = passed >= promptBytes;
                boolean isOneOfFew = passed++ < promptBytes + FEW;
                if (isSlow && !isHurried(isOneOfFew ? Duration.ofSeconds(1) : Pair.DEADLINE) && !isOneOfFew) {
                    close(); // ends who waits for ever
                    return;
                }
                to.write(next);
            }
        }

        private boolean isHurried(Duration time) {
            try {
                return hurry.await(time.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        void hurry() { hurry.countDown(); }

        InetSocketAddress address() { return (InetSocketAddress) listener.getLocalSocketAddress(); }

        @Override
        public void close() throws IOException {
            listener.close();
            synchronized (sockets) {
                for (Socket socket : sockets) {
                    socket.close();
                }
            }
        }
    }

    private static Duration timeOf(Runnable call) {
        long start = System.nanoTime();
        call.run();
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** In a virtual thread the JDK would close the socket that it reads. */
    @Test
    void anInterruptOfAVirtualThreadEndsItsWaitAndNotTheConnection() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            CompletableFuture<Throwable> ended = new CompletableFuture<>();
            Thread waits = Thread.ofVirtual().start(() -> {
                try {
                    client.await("never", Pair.DEADLINE);
                    ended.complete(null);
                } catch (RuntimeException e) {
                    ended.complete(e);
                }
            });
            Thread.sleep(BRIEF);

            waits.interrupt();

            assertThat(ended.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).hasMessageContaining("interrupted");
            server.publish("there", new byte[]{7});
            assertThat(client.await("there", Pair.DEADLINE)).containsExactly(7);
        }
    }

    @Test
    void joinEndsThoughTheServerSendsAByteNowAndThen() throws IOException {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Trickle trickle = new Trickle(server.address(), 0)) {
            assertThatThrownBy(() -> Rendezvous.join(trickle.address(), SECRET, BRIEF))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("not joined within 500 ms");
        }
    }

    @Test
    void awaitEndsThoughItsAnswerComesByteByByteAndTheNextCallGoesOn() throws Exception {
        int greeting = 40 + 21; // and the answer to the request to join
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Trickle trickle = new Trickle(server.address(), greeting);
                Rendezvous client = Rendezvous.join(trickle.address(), SECRET, Pair.DEADLINE)) {
            server.publish("short", new byte[]{7});
            server.publish("long", new byte[60]);

            assertThatThrownBy(() -> client.await("long", BRIEF)).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("has not answered");
            trickle.hurry();
            assertThat(client.await("long", Pair.DEADLINE)).hasSize(60);
            assertThat(client.await("short", Pair.DEADLINE)).containsExactly(7);
        }
    }

    /** More bytes than the system buffers for it. */
    @Test
    void publishEndsThoughTheServerTakesNothing() throws IOException {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Trickle trickle = new Trickle(server.address(), Long.MAX_VALUE);
                Rendezvous client = Rendezvous.join(trickle.address(), SECRET, Pair.DEADLINE)) {
            trickle.stopTaking();
            for (int i = 0; i < 150; i++) {
                assertThatThrownBy(() -> client.publish("much", new byte[Rendezvous.MAX_VALUE_LENGTH],
                        Deadline.in(Duration.ofMillis(20)))).isInstanceOf(FabricTimeoutException.class);
            }
        }
    }

    /** They take all that the server's process has, and come again when it closes them. */
    @Test
    @Tag("long") // it reads a clock
    void strangersWhoTakeAllDescriptorsKeepNoMemberOut() throws Exception {
        Forked.Running serving = Forked.start(FewDescriptors.class, SECRET);
        List<Socket> strangers = Collections.synchronizedList(new ArrayList<>());
        AtomicBoolean isOver = new AtomicBoolean();
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(serving.awaitLine("port ")));
            Thread.ofPlatform().daemon().start(() -> dribble(address, strangers, isOver));
            Waiting.BACKOFF.until(() -> strangers.size() == STRANGERS, Pair.DEADLINE);
            try (Rendezvous member = Rendezvous.join(address, SECRET, Duration.ofSeconds(MUCH_LATER))) {
                member.publish("here", new byte[]{1});
            }
        } finally {
            isOver.set(true);
            serving.process().destroyForcibly();
            for (Socket stranger : List.copyOf(strangers)) {
                stranger.close();
            }
        }
    }

    /** Each sends a byte a second. */
    private static void dribble(InetSocketAddress server, List<Socket> strangers, AtomicBoolean isOver) {
        try {
            while (!isOver.get()) {
                while (strangers.size() < STRANGERS) {
                    strangers.add(new Socket(server.getAddress(), server.getPort()));
                }
                strangers.removeIf(RendezvousDeadlineTest::hasGone);
                Thread.sleep(Duration.ofSeconds(1));
            }
        } catch (IOException | InterruptedException e) {
            return; // the server has ended
        }
    }

    private static boolean hasGone(Socket stranger) {
        try {
            stranger.getOutputStream().write('O');
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Serves, with few file descriptors. */
    static final class FewDescriptors {
        private FewDescriptors() {}

        public static void main(String[] arguments) throws Exception {
            try (Rendezvous server = Rendezvous.serve(ANY_PORT, arguments[0])) {
                try (Rendezvous member = Rendezvous.join(server.address(), arguments[0], Pair.DEADLINE)) {
                    member.publish("first", new byte[]{1}); // which loads what is loaded once
                }
                long open = Path.of("/proc/self/fd").toFile().list().length;
                Process limit = new ProcessBuilder("prlimit", "--pid", Long.toString(ProcessHandle.current().pid()),
                        "--nofile=" + (open + 30)).start();
                if (limit.waitFor() != 0) { throw new AssertionError("prlimit"); }
                System.out.println("port " + server.address().getPort());
                Thread.sleep(Duration.ofMinutes(2));
            }
        }
    }

    @Test
    @Tag("long") // it reads a clock
    void threadsThatWaitAtOnceKeepTheirDeadlinesAndLetOthersPublish() throws Exception {
        int threads = 20;
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            List<CompletableFuture<Duration>> waits = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                CompletableFuture<Duration> wait = new CompletableFuture<>();
                waits.add(wait);
                Thread.ofPlatform().daemon()
                        .start(() -> wait.complete(
                                timeOf(() -> assertThatThrownBy(() -> client.await("nothing", Duration.ofSeconds(2)))
                                        .isInstanceOf(FabricTimeoutException.class))));
            }
            Duration publishing = timeOf(() -> client.publish("something", new byte[]{1}));

            assertThat(publishing).isLessThan(Duration.ofSeconds(MUCH_LATER));
            for (CompletableFuture<Duration> wait : waits) {
                assertThat(wait.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS))
                        .isLessThan(Duration.ofSeconds(MUCH_LATER));
            }
        }
    }

    /** They send the first bytes of a greeting, and wait. */
    @Test
    void strangersKeepNoMemberOut() throws IOException {
        int count = 700; // more than the server lets wait
        List<Socket> strangers = new ArrayList<>();
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            for (int i = 0; i < count; i++) {
                Socket stranger = new Socket(server.address().getAddress(), server.address().getPort());
                stranger.getOutputStream().write("OFIMEET".getBytes(UTF_8));
                strangers.add(stranger);
            }
            try (Rendezvous member = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
                member.publish("here", new byte[]{1});
            }
            assertThat(server.await("here", Duration.ZERO)).containsExactly(1);
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    /** Each has room for so many values at the server, in whose heap all of them would not fit. */
    @Test
    void gatheringsThatNobodyElseJoinsKeepNoMemory() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            for (int i = 0; i < 1100; i++) {
                String name = "gathering " + i;
                assertThatThrownBy(
                        () -> server.gather(name, 0, Rendezvous.MAX_PLACES, new byte[1 << 16], Duration.ZERO))
                        .isInstanceOf(FabricTimeoutException.class).hasMessageContaining("1, 2, 3");
            }
        }
    }

    @Test
    void whoGathersAgainAfterATimeoutIsCounted() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            assertThatThrownBy(() -> server.gather("name", 0, 2, new byte[]{1}, Duration.ZERO))
                    .isInstanceOf(FabricTimeoutException.class);
            CompletableFuture<List<byte[]>> again = CompletableFuture
                    .supplyAsync(() -> server.gather("name", 0, 2, new byte[]{2}, Pair.DEADLINE));

            assertThat(client.gather("name", 1, 2, new byte[]{3}, Pair.DEADLINE)).containsExactly(new byte[]{2},
                    new byte[]{3});
            assertThat(again.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).hasSize(2);
        }
    }

    @Test
    void theLongestDurationIsADeadline() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Duration.ofSeconds(Long.MAX_VALUE))) {
            server.publish("name", new byte[]{1});

            assertThat(client.await("name", Duration.ofSeconds(Long.MAX_VALUE))).containsExactly(1);
            assertThat(client.await("name", Duration.ofNanos(Long.MAX_VALUE))).containsExactly(1);
            assertThat(client.awaitDepartures(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
        }
    }
}
