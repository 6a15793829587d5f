package io.ofi4j.internal.quirks.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.PreparedRma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * More endpoints of one process come and go than an address vector of shm has places: a place that was somebody else's
 * must not end the JVM. In a JVM of its own.
 */
@Tag("gate")
class ShmPeerSlotsTest {
    private static final int TIMES = 300;
    /** Fewer than a vector has places. */
    private static final int ENOUGH = 200;
    /** The same where a peer of this process takes two places. */
    private static final int ENOUGH_IN_PAIRS = 120;
    private static final Duration SHORT = Duration.ofMillis(5);

    @ParameterizedTest
    @EnumSource(names = {"SAFE", "DOMAIN", "COMPLETION"})
    void oneThreadWritesToEndpointsThatComeAndGo(ThreadingModel model) { survives(OneThread.class, model); }

    @ParameterizedTest
    @EnumSource(names = "SAFE")
    void oneThreadWritesToEndpointsThatAnotherOpensAndCloses(ThreadingModel model) {
        survives(TwoThreads.class, model);
    }

    @ParameterizedTest
    @EnumSource(names = {"SAFE", "DOMAIN", "COMPLETION"})
    void anEndpointIsNotTakenForTheOneWhosePlaceItHas(ThreadingModel model) { survives(Successor.class, model); }

    private static void survives(Class<?> main, ThreadingModel model) {
        Forked.Result result = Forked.run(main, model.name());

        assertThat(result.exit()).as(result.output()).isZero();
    }

    private static int enough() {
        boolean inPairs = TestProviders.info("shm").quirks().stream()
                .anyMatch(quirk -> quirk.name().equals("shm-own-peers") && quirk.isOn());
        return inPairs ? ENOUGH_IN_PAIRS : ENOUGH;
    }

    private static Pair pair(String[] arguments) {
        return new Pair(TestProviders.hints("shm").threading(ThreadingModel.valueOf(arguments[0])));
    }

    /** Writes until an operation is accepted and done, the peer is gone, or time is over. */
    private static boolean writeOnce(Pair pair, MemoryRegion region, Peer peer, CompletionQueue theirs,
            Duration patience) {
        return once(pair, () -> pair.rma().tryWrite(region, 0, 8, peer, region.remote(), 8, 1), theirs, patience);
    }

    /** From two places, so that the other end must act. */
    private static boolean readOnce(Pair pair, MemoryRegion region, Peer peer, CompletionQueue theirs) {
        PreparedRma prepared = pair.rma().prepare().peer(peer).local(region, 0, 8).remote(region.remote(), 8, 4)
                .remote(region.remote(), 12, 4);
        return once(pair, () -> prepared.tryRead(1), theirs, Pair.DEADLINE);
    }

    private static boolean once(Pair pair, BooleanSupplier post, CompletionQueue theirs, Duration patience) {
        int[] done = new int[1];
        boolean[] posted = new boolean[1];
        return Waiting.YIELD.tryUntil(() -> {
            posted[0] = posted[0] || post.getAsBoolean();
            pair.queue.poll((token, flags, length, data) -> done[0]++, 8);
            theirs.progress();
            return posted[0] && done[0] > 0;
        }, patience);
    }

    static final class OneThread {
        private OneThread() {}

        public static void main(String[] arguments) {
            int written = 0;
            int refused = 0;
            try (Pair pair = pair(arguments);
                    MemoryRegion region = pair.domain.allocate(16, Access.WRITE, Access.REMOTE_WRITE)) {
                for (int time = 0; time < TIMES; time++) {
                    try (Endpoint other = pair.domain.openEndpoint().bind(pair.vector).bind(pair.farQueue).enable()) {
                        Peer peer = pair.vector.insert(other.address());
                        written += writeOnce(pair, region, peer, pair.farQueue, Pair.DEADLINE) ? 1 : 0;
                    } catch (IllegalStateException e) {
                        refused++;
                    }
                }
                written += writeOfAnother(pair, region) ? 0 : -TIMES;
            }
            System.out.println(written + " written, " + refused + " refused");
            System.exit(written > enough() && written + refused == TIMES ? 0 : 3);
        }
    }

    /** With a vector of its own there is room again. */
    private static boolean writeOfAnother(Pair pair, MemoryRegion region) {
        try (AddressVector vector = pair.domain.openAddressVector();
                Endpoint other = pair.domain.openEndpoint().bind(vector).bind(pair.queue).enable()) {
            Peer peer = vector.insert(other.address());
            boolean written = Waiting.YIELD.tryUntil(() -> {
                pair.queue.progress();
                return other.rma().tryWrite(region, 0, 8, peer, region.remote(), 8, 1);
            }, Pair.DEADLINE);
            pair.poll();
            return written;
        }
    }

    /** The next endpoint knows nobody by the number that the one before knew the writer by. */
    static final class Successor {
        private Successor() {}

        public static void main(String[] arguments) {
            try (Pair pair = pair(arguments);
                    MemoryRegion region = pair.domain.allocate(16, Access.READ, Access.REMOTE_READ)) {
                boolean read = readOnce(pair, region, pair.far, pair.farQueue);
                try (AddressVector another = pair.domain.openAddressVector()) {
                    for (AddressVector vector : List.of(pair.vector, another)) {
                        try (Endpoint next = pair.domain.openEndpoint().bind(vector).bind(pair.farQueue).enable()) {
                            Peer peer = pair.vector.insert(next.address());
                            read &= readOnce(pair, region, peer, pair.farQueue);
                        }
                    }
                }
                System.exit(read ? 0 : 3);
            }
        }
    }

    static final class TwoThreads {
        private TwoThreads() {}

        public static void main(String[] arguments) throws InterruptedException {
            BlockingQueue<EndpointAddress> addresses = new LinkedBlockingQueue<>();
            try (Pair pair = pair(arguments);
                    MemoryRegion region = pair.domain.allocate(16, Access.WRITE, Access.REMOTE_WRITE)) {
                Thread opener = Thread.ofPlatform().start(() -> {
                    for (int time = 0; time < TIMES; time++) {
                        try (Endpoint other = pair.domain.openEndpoint().bind(pair.vector).bind(pair.farQueue)
                                .enable()) {
                            addresses.add(other.address());
                            pair.farQueue.progress();
                        }
                    }
                });
                while (opener.isAlive() || !addresses.isEmpty()) {
                    EndpointAddress address = addresses.poll(10, TimeUnit.MILLISECONDS);
                    if (address != null) { writeOrBeRefused(pair, region, address); }
                }
                opener.join();
            }
            System.exit(0);
        }

        private static void writeOrBeRefused(Pair pair, MemoryRegion region, EndpointAddress address) {
            try {
                writeOnce(pair, region, pair.vector.insert(address), pair.farQueue, SHORT);
            } catch (FabricException | IllegalStateException e) {
                // closed meanwhile, or no place left
            }
        }
    }
}
