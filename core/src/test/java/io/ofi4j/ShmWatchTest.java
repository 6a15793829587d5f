package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.internal.Errno;
import io.ofi4j.internal.ShmFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A process is killed while the lock of its shm endpoint's memory is locked, as libfabric 1.x locks it to work off what was posted.
 * Here a test locks it, after the kill. Who posts to it waits inside the provider: in a JVM of its own.
 */
class ShmWatchTest {
    private static final boolean LOCKS = Libfabric.load().version().major() < 2;
    private static final Duration DEADLINE = Patience.seconds(30);
    /** Longer than it takes to see that a process has ended. */
    private static final Duration A_WHILE = Duration.ofSeconds(2);
    private static final int MANY = 5000;
    private static final int LOCK_AT = 24;

    private static void survives(Class<?> main) {
        Forked.Result result = Forked.run(main);

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

    @Test
    void aPeerWhoseProcessWasKilledIsNotInserted() {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                FaultPeer target = new FaultPeer("shm", FaultTarget.ANY)) {
            target.kill();
            if (LOCKS) {
                assertThatExceptionOfType(FabricException.class).isThrownBy(() -> vector.insert(target.address))
                        .matches(e -> e.errno() == Errno.ENOENT);
            } else {
                assertThat(vector.insert(target.address)).isNotNull();
            }
        }
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
                memory(file -> {
                    file.seek(LOCK_AT);
                    file.writeInt(Integer.reverseBytes(locked ? 0 : 1));
                });
            }
        }

        /** Locks what somebody may be just using, when he is not. */
        void lockLiving() {
            boolean[] locked = {!LOCKS};
            Waiting.YIELD.until(() -> {
                target.signal("STOP");
                Waiting.YIELD.until(() -> isStopped(target.pid()), DEADLINE);
                memory(file -> {
                    file.seek(LOCK_AT);
                    locked[0] |= Integer.reverseBytes(file.readInt()) == 1;
                });
                if (locked[0]) {
                    setLocked(true);
                }
                target.signal("CONT");
                return locked[0];
            }, DEADLINE);
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

        private void memory(Change change) {
            Path path = ShmFiles.find(target.address.toBytes()).orElseThrow();
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                change.to(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        static void require(boolean condition, String what) {
            if (!condition) {
                throw new AssertionError("not so: " + what);
            }
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
                lockLiving();
                Thread poster = Thread.ofPlatform().start(work::tryPost);
                require(join(poster, A_WHILE) == !LOCKS, "it waits where there is a lock");
                setLocked(false);
                require(join(poster, DEADLINE), "it has posted");
                work.drainWithoutFailure();
            }
        }

        private static boolean join(Thread thread, Duration deadline) {
            try {
                return thread.join(deadline);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
