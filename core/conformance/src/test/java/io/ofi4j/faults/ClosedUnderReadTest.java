package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An endpoint is closed, or its peer removed, while the answer to a large read comes in, after any number of polls. In
 * a JVM of its own, which ofi_rxm over tcp of libfabric 1.x would end.
 */
@Tag("gate")
class ClosedUnderReadTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anEndpointMayBeClosedWhileItReads(String provider) {
        Forked.Result result = Forked.run(ClosesWhileItReads.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anEndpointMayBeClosedWhileItReadsThoughNobodyTakesWhatItsQueueKeeps(String provider) {
        assumeFalse(provider.equals("MSG verbs"),
                "a queue must have room for the receives of a connected endpoint of verbs");
        Forked.Result result = Forked.run(ClosesWhileItsQueueIsFull.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aPeerMayBeRemovedWhileItIsReadFrom(String provider) {
        Forked.Result result = Forked.run(ClosesWhileItReads.class, provider, ClosesWhileItReads.REMOVE);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointMayBeClosedWhileItReadsFromOneThatHasStopped(String provider) {
        Forked.Result result = Forked.run(ClosesWhileTheAnswerStops.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** The other end is another thread's, and of another domain: nobody else makes progress on it. */
    static final class ClosesWhileTheAnswerStops {
        private static final int SIZE = 64 << 20;
        private static final int MAX_POLLS = 2;

        private record Target(EndpointAddress address, RemoteRegion region) {}

        private static final SynchronousQueue<Target> TARGET = new SynchronousQueue<>();
        /** How often the other end still polls. */
        private static final SynchronousQueue<Integer> POLLS = new SynchronousQueue<>();

        private ClosesWhileTheAnswerStops() {}

        public static void main(String[] arguments) throws InterruptedException {
            for (int polls = 1; polls <= MAX_POLLS; polls++) {
                Thread other = Thread.ofPlatform().daemon().start(() -> answer(arguments[0]));
                closeAfter(arguments[0], polls);
                POLLS.put(0);
                other.join();
            }
        }

        private static void closeAfter(String provider, int polls) throws InterruptedException {
            try (Pair pair = new Pair(TestProviders.hints(provider).threading(ThreadingModel.DOMAIN));
                    MemoryRegion here = pair.domain.allocate(SIZE, Access.WRITE, Access.READ)) {
                Target target = TARGET.take();
                Peer peer = pair.vector.insert(target.address);
                boolean[] posted = new boolean[1];
                Waiting.YIELD.until(() -> { // connects
                    posted[0] = posted[0] || pair.rma().tryWrite(here, 0, 8, peer, target.region, 0, 1);
                    POLLS.offer(1);
                    pair.pollNear();
                    return !pair.completed.isEmpty();
                }, Pair.DEADLINE);
                long length = Math.min(SIZE, pair.rma().maximumMessageSize());
                boolean reads = pair.rma().tryRead(here, 0, length, peer, target.region, 0, 2);
                for (int poll = 0; poll < polls; poll++) {
                    POLLS.put(1);
                    pair.pollNear();
                }
                pair.endpoint.close();
                pair.pollNear();
                if (pair.completed.size() + pair.errors.size() != (reads ? 2 : 1)) {
                    throw new AssertionError(pair.completed + " completed, failed: " + pair.errors);
                }
            }
        }

        /** Polls as often as it is told. */
        private static void answer(String provider) {
            try (Pair pair = new Pair(TestProviders.hints(provider).threading(ThreadingModel.DOMAIN));
                    MemoryRegion region = pair.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
                TARGET.put(new Target(pair.endpoint.address(), region.remote()));
                while (POLLS.take() > 0) {
                    pair.pollNear();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static final class ClosesWhileItReads {
        /** Its second argument: the peer is removed before the endpoint is closed. */
        static final String REMOVE = "remove";
        private static final int SIZE = 4 << 20;
        private static final int MAX_POLLS = 12;
        /** Each number of polls once. */
        private static final int TIMES = Rounds.of(MAX_POLLS);

        private ClosesWhileItReads() {}

        public static void main(String[] arguments) {
            for (int time = 0; time < TIMES; time++) {
                try (Pair pair = new Pair(arguments[0]);
                        MemoryRegion here = pair.domain.allocate(SIZE, Access.WRITE, Access.READ);
                        MemoryRegion there = pair.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
                    pair.rma().write(here.slice(0, 8), pair.far, there.remote(), 1);
                    pair.awaitCompletions(1);
                    pair.rma().read(here.slice(0, SIZE), pair.far, there.remote(), 2);
                    for (int poll = 0; poll < time % MAX_POLLS; poll++) {
                        pair.farQueue.progress();
                        if (poll % 2 == 1) { pair.pollNear(); }
                    }
                    if (List.of(arguments).contains(REMOVE)) {
                        pair.vector.remove(pair.far);
                        pair.farQueue.progress();
                        pair.pollNear();
                    }
                    pair.endpoint.close();
                    pair.pollNear();
                    if (pair.completed.size() + pair.errors.size() != 2) {
                        throw new AssertionError(pair.completed + " completed, failed: " + pair.errors);
                    }
                }
            }
        }
    }

    static final class ClosesWhileItsQueueIsFull {
        private static final int SIZE = 4 << 20;
        private static final int TIMES = 8;

        private ClosesWhileItsQueueIsFull() {}

        public static void main(String[] arguments) {
            for (int time = 0; time < TIMES; time++) {
                try (Pair pair = new Pair(TestProviders.hints(arguments[0]),
                        CompletionQueueAttributes.defaults().size(1));
                        MemoryRegion here = pair.domain.allocate(SIZE, Access.WRITE, Access.READ);
                        MemoryRegion there = pair.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
                    pair.rma().write(here.slice(0, 8), pair.far, there.remote(), 1);
                    Waiting.YIELD.until(() -> {
                        pair.farQueue.progress();
                        pair.queue.progress();
                        return pair.queue.operationsInFlight() == 0;
                    }, Pair.DEADLINE);
                    pair.rma().read(here.slice(0, SIZE), pair.far, there.remote(), 2);
                    for (int poll = 0; poll < time; poll++) {
                        pair.farQueue.progress();
                    }
                    pair.endpoint.close();
                    pair.awaitCompletions(2);
                }
            }
        }
    }
}
