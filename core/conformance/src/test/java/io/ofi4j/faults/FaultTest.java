package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The process at the other end is killed, stopped and started again while operations are under way. The process under
 * test is a JVM of its own, which must neither die nor hang. {@code -Dofi4j.test.faults=N} injects N times as many
 * faults.
 */
@Tag("long")
class FaultTest {
    private static final int TIMES = Integer.getInteger("ofi4j.test.faults", 1);

    private static void survives(Class<?> main, String provider) {
        Forked.Result result = Forked.start(main, "-Dofi4j.test.faults=" + TIMES, provider)
                .await(FaultWork.SECONDS * TIMES);

        assertThat(result.exit()).as(result.output()).isZero();
        System.out.print(result.output().lines().filter(line -> line.startsWith("faults ")).map(line -> line + "\n")
                .reduce("", String::concat));
    }

    /** Not shm: a kill may leave its endpoints stuck; KilledPeerTest has that. */
    static Stream<String> transfersButShm() {
        return TestProviders.transfers().filter(provider -> !provider.equals("shm"));
    }

    @ForEachProvider
    @MethodSource("transfersButShm")
    void aPeerThatIsKilledAtARandomMoment(String provider) { survives(Kills.class, provider); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aPeerThatIsStoppedAndContinued(String provider) { survives(Stops.class, provider); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aPeerThatIsKilledWhileConnectionsAreMade(String provider) { survives(KillsWhileConnecting.class, provider); }

    /** What the forked ones have in common. */
    private abstract static class Driver {
        final String provider;
        final Random random;
        final Fabric fabric;
        final Domain domain;
        int faults;
        int stalls;
        long longest;

        Driver(String provider) {
            this.provider = provider;
            random = TestSeed.random(getClass().getSimpleName() + " " + provider);
            fabric = Libfabric.load().openFabric(TestProviders.info(provider));
            domain = fabric.openDomain();
        }

        abstract void inject();

        void run() {
            for (int times = 0; times < TIMES; times++) {
                stalls += FaultWork.again(provider, this::inject);
            }
            domain.close();
            fabric.close();
            System.out.println("faults " + getClass().getSimpleName() + " " + provider + ": " + faults
                    + " injected and survived, " + stalls + " stalls, longest recovery " + longest / 1_000_000 + " ms");
        }

        static void join(Thread thread) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** What another thread did last. */
        static long requireDone(long at) {
            if (at == 0) { throw new AssertionError("the fault was not injected"); }
            return at;
        }

        void recovered(long since) {
            faults++;
            longest = Math.max(longest, System.nanoTime() - since);
        }

        /** How far a run goes before the fault. */
        int someOperations() {
            return random.nextInt(3) == 0 ? random.nextInt(3) : 20 + random.nextInt(2000);
        }
    }

    static final class Kills extends Driver {
        private static final Duration TIMEOUT = Duration.ofMillis(500);

        private Kills(String provider) { super(provider); }

        public static void main(String[] arguments) { new Kills(arguments[0]).run(); }

        @Override
        void inject() {
            FaultPeer target = new FaultPeer(provider, FaultTarget.ANY);
            killDuring(target);
            try (FaultPeer successor = new FaultPeer(provider, target.port())) {
                if (!successor.address.equals(target.address)) {
                    throw new AssertionError(successor.address + " instead of " + target.address);
                }
                worksWith(successor);
            }
        }

        /** Another thread kills it, so that this one may be anywhere in native code. */
        private void killDuring(FaultPeer target) {
            int operations = someOperations();
            long[] killed = new long[1];
            try (target; FaultWork work = new FaultWork(fabric, domain, target, random)) {
                work.connect();
                Thread killer = Thread.ofPlatform().unstarted(() -> {
                    target.kill();
                    killed[0] = System.nanoTime();
                });
                work.runUntil(() -> work.completed >= operations, FaultWork.DEADLINE);
                killer.start();
                postsUntilNothingMoves(work, killer);
                work.verify();
                join(killer);
            }
            recovered(requireDone(killed[0]));
        }

        /** Operations end in errors, in exceptions, or wait until the endpoint is closed. */
        private static void postsUntilNothingMoves(FaultWork work, Thread killer) {
            try {
                work.tryRunUntil(() -> !killer.isAlive() && work.failed > 0, TIMEOUT);
            } catch (FabricException | IllegalStateException e) {
                work.poll(); // refused: an answer, too
            }
            work.tryDrain(TIMEOUT);
        }

        private void worksWith(FaultPeer successor) {
            try (FaultWork work = new FaultWork(fabric, domain, successor, random)) {
                work.connect();
                work.runUntil(() -> work.completed > 100 && work.sawValues(), FaultWork.DEADLINE);
                work.drainWithoutFailure();
                work.verify();
            }
        }
    }

    /** Connection after connection, and one operation on each, until the peer is gone and after. */
    static final class KillsWhileConnecting extends Driver {
        private static final Duration TIMEOUT = Duration.ofSeconds(2);
        private static final int MAX_DELAY_NANOS = 150_000_000;

        private KillsWhileConnecting(String provider) { super(provider); }

        public static void main(String[] arguments) { new KillsWhileConnecting(arguments[0]).run(); }

        @Override
        void inject() {
            long[] killed = new long[1];
            try (FaultPeer target = new FaultPeer(provider, FaultTarget.ANY)) {
                long moment = System.nanoTime() + random.nextInt(MAX_DELAY_NANOS);
                Thread killer = Thread.ofPlatform().start(() -> {
                    Waiting.YIELD.until(() -> System.nanoTime() > moment, FaultWork.DEADLINE);
                    target.kill();
                    killed[0] = System.nanoTime();
                });
                do {
                    connect(target);
                } while (killer.isAlive());
                join(killer);
            }
            recovered(requireDone(killed[0]));
        }

        private void connect(FaultPeer target) {
            try (FaultWork work = new FaultWork(fabric, domain, target, random)) {
                work.connect(TIMEOUT);
                work.tryRunUntil(() -> work.completed + work.failed > 0 || !target.isAlive(), TIMEOUT);
            } catch (FabricException | IllegalStateException | IllegalArgumentException e) {
                if (e.getMessage() == null || e.getMessage().isBlank()) { throw e; }
            }
        }
    }

    static final class Stops extends Driver {
        private Stops(String provider) { super(provider); }

        public static void main(String[] arguments) { new Stops(arguments[0]).run(); }

        @Override
        void inject() {
            try (FaultPeer target = new FaultPeer(provider, FaultTarget.ANY);
                    FaultWork work = new FaultWork(fabric, domain, target, random)) {
                work.connect();
                for (int times = 0; times < 3; times++) {
                    stop(target, work);
                }
                work.drainWithoutFailure();
                work.verify();
            }
        }

        private void stop(FaultPeer target, FaultWork work) {
            int before = work.completed + someOperations();
            work.runUntil(() -> work.completed >= before, FaultWork.DEADLINE);
            long until = System.nanoTime() + random.nextLong(400_000_000);
            long[] continued = new long[1];
            Thread other = Thread.ofPlatform().start(() -> {
                target.signal("STOP");
                Waiting.YIELD.until(() -> System.nanoTime() > until, FaultWork.DEADLINE);
                target.signal("CONT");
                continued[0] = System.nanoTime();
            });
            work.tryRunUntil(() -> !other.isAlive(), FaultWork.DEADLINE);
            int then = work.completed + 200;
            work.runUntil(() -> work.completed >= then, FaultWork.DEADLINE);
            recovered(requireDone(continued[0]));
        }
    }
}
