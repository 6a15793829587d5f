package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who sleeps at a doorbell is woken by a ring, and by nothing else before its deadline. */
@Timeout(300)
class DoorbellTest {
    /** No look of a thread that sleeps comes before the deadline of a test. */
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration SOON = Patience.seconds(60);
    private static final int ROUNDS = 20_000;
    /** More than the system lets wait. */
    private static final int MANY = 1_500;
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aRingEndsTheSleepOfWhoWaits() throws Exception {
        AtomicInteger posted = new AtomicInteger();
        try (Doorbell bell = Doorbell.open(NEVER); RemoteDoorbell remote = RemoteDoorbell.open(bell.address())) {
            CompletableFuture<Integer> found = asleep(bell, posted);
            posted.set(7);

            assertThat(remote.ring()).isTrue();

            assertThat(get(found)).isEqualTo(7);
        }
    }

    /**
     * A thread that waits until a number is not 0, and has looked for the last time before it sleeps. One peer has
     * opened the doorbell before.
     */
    private static CompletableFuture<Integer> asleep(Doorbell bell, AtomicInteger number) {
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<Integer> found = CompletableFuture.supplyAsync(() -> bell.await(() -> {
            int now = number.get();
            looks.incrementAndGet();
            return now;
        }, NEVER, Duration.ZERO), task -> Thread.ofPlatform().daemon().start(task));
        // two before each sleep: before it says that it sleeps, and after; and the connection ends the first sleep
        Waiting.BACKOFF.until(() -> looks.get() == 4, SOON);
        return found;
    }

    private static long maxFiles() throws IOException {
        String limit = Files.readString(Path.of("/proc/self/limits")).replaceFirst("(?s).*Max open files +(\\S+).*",
                "$1");
        return limit.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(limit);
    }

    /** Its owner accepts only while it sleeps, and this one never does. */
    @Test
    void anOpenDoesNotWaitForAPlaceAmongThoseWhoWait() throws IOException {
        assumeThat(maxFiles()).as("the most files that a process may have").isGreaterThan(2L * MANY);
        List<RemoteDoorbell> peers = new ArrayList<>();
        try (Doorbell bell = Doorbell.open(NEVER)) {
            assertThatThrownBy(() -> {
                while (peers.size() < MANY) {
                    peers.add(RemoteDoorbell.open(bell.address()));
                }
            }).isInstanceOf(RendezvousException.class).hasMessageContaining("peers wait until the owner of ");
            bell.await(() -> 0, Duration.ofMillis(100), Duration.ZERO); // it sleeps, and accepts some

            RemoteDoorbell.open(bell.address()).close();
        } finally {
            peers.forEach(RemoteDoorbell::close);
        }
    }

    @Test
    void nobodyIsRungWhoIsAwake() {
        try (Doorbell bell = Doorbell.open(NEVER); RemoteDoorbell remote = RemoteDoorbell.open(bell.address())) {
            assertThat(remote.ring()).isFalse();

            assertThat(bell.await(() -> 1, NEVER, Duration.ZERO)).isEqualTo(1);
            assertThat(bell.await(() -> 0, Duration.ofMillis(1), Duration.ZERO)).isZero();

            assertThat(remote.ring()).isFalse();
        }
    }

    /** What is posted between the last poll and the sleep is not missed, however often. */
    @Test
    void noPostIsMissed() throws Exception {
        AtomicInteger there = new AtomicInteger();
        AtomicInteger here = new AtomicInteger();
        try (Doorbell bell = Doorbell.open(NEVER);
                RemoteDoorbell remote = RemoteDoorbell.open(bell.address());
                Doorbell backBell = Doorbell.open(NEVER);
                RemoteDoorbell back = RemoteDoorbell.open(backBell.address())) {
            CompletableFuture<Void> echo = CompletableFuture.runAsync(() -> {
                for (int round = 1; round <= ROUNDS; round++) {
                    awaitNumber(bell, there, round);
                    here.set(round);
                    back.ring();
                }
            });
            for (int round = 1; round <= ROUNDS; round++) {
                there.set(round);
                remote.ring();
                awaitNumber(backBell, here, round);
            }
            get(echo);
        }
    }

    private static void awaitNumber(Doorbell bell, AtomicInteger number, int expected) {
        IntSupplier isThere = () -> number.get() == expected ? 1 : 0;
        if (bell.await(isThere, SOON, Duration.ZERO) == 0) {
            throw new AssertionError("number " + expected + " was missed");
        }
    }

    /** What a process has open over shm. */
    private static final class Side implements AutoCloseable {
        final Fabric fabric = Libfabric.load()
                .openFabric(Libfabric.load().info(TestProviders.hints("shm").capabilities(Capability.MSG)).getFirst());
        final Domain domain = fabric.openDomain();
        final CompletionQueue queue = domain.openCompletionQueue();
        final AddressVector vector = domain.openAddressVector();
        final Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable();
        final MemoryRegion memory = domain.allocate(Long.BYTES, Access.SEND, Access.RECEIVE);

        @Override
        public void close() {
            endpoint.close();
            vector.close();
            queue.close();
            memory.close();
            domain.close();
            fabric.close();
        }
    }

    /** A process that sleeps until a message has come. */
    static final class Sleeper {
        private Sleeper() {}

        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            try (Side side = new Side(); Doorbell bell = Doorbell.open(NEVER)) {
                side.endpoint.messages().receive(side.memory.slice(0, Long.BYTES), 1);
                say(folder, "address", side.endpoint.address().encode());
                say(folder, "bell", bell.address());
                int found = bell.await(() -> side.queue.poll(NOTHING, 1), SOON, Duration.ZERO);
                System.out.println(found + " came: " + side.memory.segment().get(ValueLayout.JAVA_LONG, 0));
            }
        }

        private static void say(Path folder, String name, byte[] bytes) throws IOException {
            Path part = Files.write(folder.resolve(name + ".part"), bytes);
            Files.move(part, folder.resolve(name));
        }
    }

    @Test
    void aMessageOverShmWakesAProcessThatSleeps(@TempDir Path folder) throws Exception {
        Forked.Running sleeper = Forked.start(Sleeper.class, folder.toString());
        Path bell = folder.resolve("bell");
        Waiting.BACKOFF.until(() -> Files.exists(bell) || !sleeper.process().isAlive(), SOON);
        try (Side side = new Side(); RemoteDoorbell remote = RemoteDoorbell.open(Files.readAllBytes(bell))) {
            Peer peer = side.vector.insert(EndpointAddress.decode(Files.readAllBytes(folder.resolve("address"))));
            side.memory.segment().set(ValueLayout.JAVA_LONG, 0, 4711);
            boolean posted = false;
            while (sleeper.process().isAlive()) { // also where nothing is posted yet: the peer must poll for that
                posted = posted || side.endpoint.messages().trySend(side.memory, 0, Long.BYTES, peer, 1);
                side.queue.poll(NOTHING, 1);
                remote.ring();
            }
        }
        assertThat(sleeper.await().output()).contains("1 came: 4711");
    }

    @Test
    void aRingOfThisProcessEndsOneWait() {
        try (Doorbell bell = Doorbell.open(NEVER)) {
            bell.ring();

            assertThat(bell.await(() -> 0, NEVER, Duration.ZERO)).isZero();
            assertThat(bell.await(() -> 0, Duration.ofMillis(1), NEVER)).isZero();
        }
    }

    @Test
    void theDeadlineEndsAWait() {
        try (Doorbell bell = Doorbell.open()) {
            assertThat(bell.await(() -> 0, Duration.ofMillis(30), Duration.ofMillis(1))).isZero();
        }
    }

    @Test
    void aCloseEndsAWait() throws Exception {
        Doorbell bell = Doorbell.open(NEVER);
        CompletableFuture<Integer> waiting = CompletableFuture
                .supplyAsync(() -> bell.await(() -> 0, NEVER, Duration.ZERO));
        bell.close();

        assertThatThrownBy(() -> get(waiting)).hasRootCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(() -> bell.await(() -> 0, NEVER, Duration.ZERO));
    }

    @Test
    void anInterruptEndsAWait() {
        try (Doorbell bell = Doorbell.open(NEVER)) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> bell.await(() -> 0, NEVER, Duration.ZERO)).isInstanceOf(RendezvousException.class)
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aBellThatIsClosedIsRungForNobody() {
        Doorbell bell = Doorbell.open(NEVER);
        byte[] address = bell.address();
        try (RemoteDoorbell remote = RemoteDoorbell.open(address)) {
            asleep(bell, new AtomicInteger());
            bell.close();

            assertThat(remote.ring()).isFalse();
        }
        assertThatThrownBy(() -> RemoteDoorbell.open(address)).isInstanceOf(RendezvousException.class)
                .hasMessageContaining("Is its process running");
        assertThat(Path.of(new String(address, StandardCharsets.UTF_8))).doesNotExist();
    }

    /** A process that ends without closing its doorbell. */
    static final class Killed {
        private Killed() {}

        public static void main(String[] arguments) {
            System.out.print(new String(Doorbell.open().address(), StandardCharsets.UTF_8));
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void whatAProcessHasLeftIsRemovedByTheNext() {
        Path left = Path.of(Forked.run(Killed.class).output().strip());
        assertThat(left).exists();
        try (Doorbell living = Doorbell.open(); Doorbell next = Doorbell.open()) {
            assertThat(left).doesNotExist();
            assertThat(next.address()).isNotEqualTo(living.address());
            RemoteDoorbell.open(living.address()).close(); // which is not taken for one that was left
        }
    }

    /** As of a process that was killed while it made one; and one that cannot be removed is in nobody's way. */
    @Test
    void foldersWithoutAFileAreRemovedAfterAMinute() throws Exception {
        long first = System.nanoTime();
        FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofMinutes(5)));
        List<Path> old = new ArrayList<>();
        for (int number = 0; number < 8; number++) {
            Path folder = Files.createDirectory(folderOfBells().resolve("ofi4j-bell-%016x".formatted(first + number)));
            if (number % 2 == 0) { Files.createFile(folder.resolve("of another program")); }
            Files.setLastModifiedTime(folder, longAgo);
            old.add(folder);
        }
        Path young = Files.createDirectory(folderOfBells().resolve("ofi4j-bell-%016x".formatted(first + 8)));
        try {
            Doorbell.open().close();

            assertThat(old.stream().filter(Files::exists)).containsExactly(old.get(0), old.get(2), old.get(4),
                    old.get(6));
            assertThat(young).exists();
        } finally {
            Files.delete(young);
            for (Path folder : old) {
                Files.deleteIfExists(folder.resolve("of another program"));
                Files.deleteIfExists(folder);
            }
        }
    }

    private static Path folderOfBells() {
        try (Doorbell bell = Doorbell.open()) {
            return Path.of(new String(bell.address(), StandardCharsets.UTF_8)).getParent();
        }
    }

    /** Opens a doorbell, which removes what processes have left. */
    static final class Neighbour {
        private Neighbour() {}

        public static void main(String[] arguments) {
            Doorbell.open().close();
            System.out.println("opened");
        }
    }

    @Test
    void aClockThatIsSetTakesNoProcessForAnother(@TempDir Path folder) throws Exception {
        Path later = folder.resolve("stat");
        Files.writeString(later, Files.readString(Path.of("/proc/stat")).replaceFirst("btime .*", "btime 1"));
        String[] command = {"unshare", "-rm", "sh", "-c",
                "mount --bind " + later + " /proc/stat && exec \"$0\" \"$@\""};
        List<String> machine = List.of(command);
        assumeThat(exit(machine, "true")).as("a user may have mounts of its own").isZero();
        try (Doorbell bell = Doorbell.open()) {
            Forked.Result result = Forked.startBehind(machine, Neighbour.class).await();

            assertThat(result.output()).contains("opened");
            RemoteDoorbell.open(bell.address()).close();
        }
    }

    private static int exit(List<String> prefix, String command) throws Exception {
        return new ProcessBuilder(Stream.concat(prefix.stream(), Stream.of(command)).toList()).inheritIO().start()
                .waitFor();
    }

    @Test
    void anInterruptThatEndsAnOpenIsSaid() {
        try (Doorbell bell = Doorbell.open()) {
            byte[] address = bell.address();
            for (ThrowingCallable open : List.<ThrowingCallable>of(Doorbell::open,
                    () -> RemoteDoorbell.open(address))) {
                Thread.currentThread().interrupt();
                assertThatThrownBy(open).isInstanceOf(RendezvousException.class)
                        .hasMessageEndingWith("was interrupted");
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    /** Opens doorbells until there is no descriptor left. */
    static final class Hoarder {
        private Hoarder() {}

        public static void main(String[] arguments) {
            List<Doorbell> bells = new ArrayList<>();
            try {
                while (true) {
                    bells.add(Doorbell.open());
                }
            } catch (RendezvousException e) {
                bells.forEach(Doorbell::close);
                Doorbell.open().close(); // which nothing is left of
                System.out.println("refused: " + e.getMessage());
            }
        }
    }

    @Test
    void aProcessWithoutAFreeDescriptorGetsNoneAndLeavesNothing() {
        List<String> few = List.of("bash", "-c", "ulimit -n 200; exec \"$0\" \"$@\"");

        Forked.Result result = Forked.startBehind(few, Hoarder.class).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("refused: no doorbell can be opened: ", "a free descriptor");
    }

    @Test
    void otherBytesAreNoAddress() {
        for (String text : new String[]{"", "/dev/shm", "/dev/shm/ofi4j-bell-1", "ofi4j-bell-0123456789abcdef",
                "/\0/ofi4j-bell-0123456789abcdef", "/x".repeat(60) + "/ofi4j-bell-0123456789abcdef"}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RemoteDoorbell.open(text.getBytes(StandardCharsets.UTF_8)))
                    .withMessageContaining("no address of a doorbell");
        }
    }
}
