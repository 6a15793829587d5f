package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.internal.Errno;
import io.ofi4j.internal.ShmFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A process is killed while the lock of its shm endpoint's memory is locked, as libfabric 1.x locks it to work off what was posted.
 * Here a test locks it, after the kill. Who posts to it waits inside the provider: in a JVM of its own.
 */
class ShmWatchTest {
    private static final boolean LOCKS = Libfabric.load().version().major() < 2;
    private static final Duration DEADLINE = Patience.seconds(60);
    /** Longer than it takes to see that a process has ended. */
    private static final Duration A_WHILE = Duration.ofSeconds(2);
    private static final int MANY = 5000;
    /** Where libfabric 1.17 has these, in bytes. */
    private static final int LOCK_AT = 24;
    private static final int ROOM_AT = 48;
    private static final int MASK_AT = 136;
    private static final int PUT_AT = 152;
    private static final int RING_AT = 160;
    private static final int COMMAND = 256;
    private static final int OPERATION_AT = 16;
    private static final int WRITE = 4;

    private static void survives(Class<?> main) {
        Forked.Result result = Forked.start(main).await(Patience.seconds(240).toSeconds());

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void whoWaitsForTheLockOfAProcessThatWasKilledIsLetGo() {
        survives(PostsToTheLocked.class);
    }

    @Test
    void whoWaitsForTheLockOfAProcessThatLivesGoesOnWaiting() {
        survives(PostsToTheLiving.class);
    }

    /** Its file is there as long as nobody removes it, and what is posted to it is not accepted. */
    @Test
    void aPeerWhoseProcessWasKilledIsInserted() {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                FaultPeer target = new FaultPeer("shm", FaultTarget.ANY)) {
            target.kill();
            assertThat(vector.insert(target.address)).isNotNull();
        }
    }

    @Test
    void whoIsPostedToByAProcessThatWasKilledGoesOn() {
        survives(IsPostedTo.class);
    }

    @Test
    void theLockOfAProcessThatLivesStaysLocked() {
        survives(IsPostedToByTheStopped.class);
    }

    private static boolean isStopped(long process) {
        String[] threads = Path.of("/proc", Long.toString(process), "task").toFile().list();
        return Stream.of(threads).allMatch(thread -> {
            try {
                String facts = Files.readString(Path.of("/proc", Long.toString(process), "task", thread, "stat"));
                return facts.charAt(facts.lastIndexOf(')') + 2) == 'T';
            } catch (IOException e) {
                return true; // that thread has ended
            }
        });
    }

    /** What is done with a file. */
    private interface Change {
        void to(RandomAccessFile file) throws IOException;
    }

    private static void memory(EndpointAddress address, Change change) {
        Path path = ShmFiles.find(address.toBytes()).orElseThrow();
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            change.to(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError("not so: " + what);
        }
    }

    private static boolean join(Thread thread, Duration deadline) {
        try {
            return thread.join(deadline);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void lock(EndpointAddress address, boolean locked) {
        memory(address, file -> {
            file.seek(LOCK_AT);
            file.writeInt(Integer.reverseBytes(locked ? 0 : 1));
        });
    }

    /** What the forked ones have in common: a process whose lock is in the tests' hands. */
    private abstract static class Driver {
        final Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
        final Domain domain = fabric.openDomain();
        final FaultPeer target = new FaultPeer("shm", FaultTarget.ANY);

        abstract void run();

        final void toTheEnd() {
            try (fabric; domain; target) {
                run();
            }
        }

        FaultWork work(FaultPeer peer) {
            FaultWork work = new FaultWork(fabric, domain, peer, new Random(1)).connect();
            work.runUntil(() -> work.completed > 100, FaultWork.DEADLINE);
            work.drainWithoutFailure();
            return work;
        }

        /** Locks, or unlocks, as glibc does. Where there is no such lock, nothing. */
        void setLocked(boolean locked) {
            if (LOCKS) {
                lock(target.address, locked);
            }
        }

        /**
         * Stops the target and locks what it may be just using, when it is not. What goes on would find out that its own lock is
         * held by nobody, and unlock it.
         */
        void stopAndLock() {
            boolean[] locked = {!LOCKS};
            Waiting.YIELD.until(() -> {
                target.signal("STOP");
                Waiting.YIELD.until(() -> isStopped(target.pid()), DEADLINE);
                memory(target.address, file -> {
                    file.seek(LOCK_AT);
                    locked[0] |= Integer.reverseBytes(file.readInt()) == 1;
                });
                if (locked[0]) {
                    setLocked(true);
                } else {
                    target.signal("CONT");
                }
                return locked[0];
            }, DEADLINE);
        }

        /** What a call is refused with. */
        static FabricException refusal(Runnable call) {
            try {
                call.run();
            } catch (FabricException e) {
                return e;
            }
            throw new AssertionError("it was not refused");
        }
    }

    static final class PostsToTheLocked extends Driver {
        public static void main(String[] arguments) {
            new PostsToTheLocked().toTheEnd();
        }

        @Override
        void run() {
            try (FaultWork work = work(target); FaultWork other = work(target)) {
                target.kill();
                setLocked(true);
                if (LOCKS) {
                    awaitLost(work);
                    awaitLost(other);
                    require(refusal(other::connect).errno() == Errno.ENOENT, "it is not inserted again");
                } else {
                    for (int times = 0; times < MANY; times++) {
                        work.tryPost();
                    }
                }
            }
            try (FaultPeer successor = new FaultPeer("shm", FaultTarget.ANY); FaultWork work = work(successor)) {
                work.verify();
            }
        }

        private static void awaitLost(FaultWork work) {
            long start = System.nanoTime();
            FabricException refusal = refusal(() -> {
                while (System.nanoTime() - start < DEADLINE.toNanos()) {
                    work.tryPost();
                    work.poll();
                }
            });
            require(refusal.errno() == Errno.ECONNRESET, "it says that the peer is gone: " + refusal);
            require(refusal.getMessage().contains("its process has ended"), "it says why: " + refusal);
        }
    }

    static final class PostsToTheLiving extends Driver {
        public static void main(String[] arguments) {
            new PostsToTheLiving().toTheEnd();
        }

        @Override
        void run() {
            try (FaultWork work = work(target)) {
                stopAndLock();
                Thread poster = Thread.ofPlatform().start(work::tryPost);
                require(join(poster, A_WHILE) == !LOCKS, "it waits where there is a lock");
                setLocked(false);
                target.signal("CONT");
                require(join(poster, DEADLINE), "it has posted");
                work.drainWithoutFailure();
            }
        }
    }

    /** A process that others write to; here it is its own lock that is locked. */
    private abstract static class Target {
        final Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
        final Domain domain = fabric.openDomain();
        final CompletionQueue queue = domain.openCompletionQueue();
        final AddressVector vector = domain.openAddressVector();
        final Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        final MemoryRegion region = domain.allocate(Long.BYTES, Access.REMOTE_WRITE);

        abstract void run();

        final void toTheEnd() {
            try (fabric; domain; queue; vector; region; endpoint) {
                run();
            }
        }

        /** A process that has written, and writes no more. */
        Forked.Running writer() {
            region.segment().set(ValueLayout.JAVA_LONG, 0, 0);
            Forked.Running writer = Forked.start(Writer.class, HexFormat.of().formatHex(endpoint.address().toBytes()),
                    HexFormat.of().formatHex(region.remote().encode()));
            Waiting.YIELD.until(() -> {
                queue.progress();
                return writer.output().contains("written");
            }, DEADLINE);
            require(region.segment().get(ValueLayout.JAVA_LONG, 0) == Writer.VALUE, "it has written");
            return writer;
        }

        /** As a process leaves it that is killed between the two commands of a write, and somebody wants to be heard. */
        void leaveLocked() {
            memory(endpoint.address(), file -> {
                long put = getLong(file, PUT_AT);
                putLong(file, PUT_AT, put + 1);
                putLong(file, ROOM_AT, getLong(file, ROOM_AT) - 1);
                file.seek(RING_AT + (put & getLong(file, MASK_AT)) * COMMAND + OPERATION_AT);
                file.writeInt(Integer.reverseBytes(WRITE));
                file.seek(LOCK_AT);
                file.writeInt(0);
                file.writeInt(Integer.reverseBytes(1));
            });
        }

        private static long getLong(RandomAccessFile file, long at) throws IOException {
            file.seek(at);
            return Long.reverseBytes(file.readLong());
        }

        private static void putLong(RandomAccessFile file, long at, long value) throws IOException {
            file.seek(at);
            file.writeLong(Long.reverseBytes(value));
        }
    }

    static final class IsPostedTo extends Target {
        public static void main(String[] arguments) {
            new IsPostedTo().toTheEnd();
        }

        @Override
        void run() {
            kill(writer());
            if (LOCKS) {
                leaveLocked();
            }
            queue.progress();
            kill(writer());
        }

        private static void kill(Forked.Running writer) {
            writer.process().destroyForcibly();
            Waiting.YIELD.until(() -> !writer.process().isAlive(), DEADLINE);
        }
    }

    static final class IsPostedToByTheStopped extends Target {
        public static void main(String[] arguments) {
            new IsPostedToByTheStopped().toTheEnd();
        }

        @Override
        void run() {
            Forked.Running writer = writer();
            FaultPeer.run(List.of("sh", "-c", "kill -STOP " + writer.process().pid()));
            Waiting.YIELD.until(() -> isStopped(writer.process().pid()), DEADLINE);
            if (LOCKS) {
                leaveLocked();
            }
            Thread poller = Thread.ofPlatform().start(queue::progress);
            require(join(poller, A_WHILE) == !LOCKS, "it waits where there is a lock");
            FaultPeer.run(List.of("sh", "-c", "kill -CONT " + writer.process().pid()));
            require(join(poller, DEADLINE), "it waits no more when that process sleeps, and cannot hold the lock");
            writer.process().destroyForcibly();
        }
    }

    /** Writes once, and sleeps until its input ends. */
    static final class Writer {
        static final long VALUE = 4711;

        private Writer() {
        }

        public static void main(String[] arguments) throws IOException {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    MemoryRegion source = domain.allocate(Long.BYTES, Access.WRITE);
                    Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                Peer peer = vector.insert(EndpointAddress.of(HexFormat.of().parseHex(arguments[0])));
                RemoteRegion remote = RemoteRegion.decode(HexFormat.of().parseHex(arguments[1]));
                source.segment().set(ValueLayout.JAVA_LONG, 0, VALUE);
                endpoint.rma().write(source, 0, Long.BYTES, peer, remote, 0, 1);
                Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, DEADLINE);
                System.out.println("written");
                while (System.in.read() >= 0) {
                    continue;
                }
            }
        }
    }
}
