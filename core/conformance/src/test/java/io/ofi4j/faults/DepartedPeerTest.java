package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A peer connects, writes, and leaves, before its target has made progress again; another one keeps the target busy.
 * Whether a write arrives after its peer has left is a race between the provider and the kernel: the target survives in
 * any case, and many attempts show that the race was run.
 */
@Tag("gate")
class DepartedPeerTest {
    private static final int ATTEMPTS = 3;
    private static final int MANY_ATTEMPTS = 100;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void leavesATargetThatGoesOn(String provider) {
        Forked.Result result = Forked.run(LeavesAtOnce.class, provider, Integer.toString(Rounds.of(ATTEMPTS)));

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("a write arrived ");
    }

    /**
     * Where there are connections that end: with ofi_rxd the target never learns that a peer has left. Over Soft-RoCE
     * no number of attempts was enough.
     */
    static Stream<String> withLateWrites() {
        return TestProviders.rma().filter(provider -> !provider.contains("ofi_rxd") && !provider.contains("verbs"));
    }

    @Tag("long") // on a busy machine ten attempts were not enough
    @ForEachProvider
    @MethodSource("withLateWrites")
    void ofManyWritesOneArrivesAfterItsPeerHasLeft(String provider) {
        Forked.Result result = Forked.run(LeavesAtOnce.class, provider, Integer.toString(MANY_ATTEMPTS), "until one");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).containsPattern("a write arrived [1-9]");
    }

    static final class LeavesAtOnce {
        private static final long OTHERS_DATA = 7;
        /** Of the last write of the peer that leaves. */
        private static final long LAST_DATA = 9;
        /** More than ofi_rxm takes in one go before it looks at its connections. */
        private static final int WRITES = 40;
        private static final int POLLS = 1000;
        private static final long MOMENT = Patience.seconds(1).toNanos() / 5;

        private final Pair pair;
        private final MemoryRegion source;
        private final RemoteRegion target;
        private int othersCompleted;

        private LeavesAtOnce(Pair pair, MemoryRegion source, RemoteRegion target) {
            this.pair = pair;
            this.source = source;
            this.target = target;
        }

        /** Arguments: the provider, how many attempts at most, and whether the first race ends them. */
        public static void main(String[] arguments) {
            int most = Integer.parseInt(arguments[1]);
            boolean isForOne = arguments.length > 2;
            int races = 0;
            int attempts = 0;
            while (attempts < most && !(isForOne && races > 0)) {
                attempts++;
                try (Pair pair = new Pair(arguments[0]);
                        CompletionQueue othersQueue = pair.domain.openCompletionQueue();
                        MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                        MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                        Endpoint other = pair.domain.openEndpoint().bind(pair.vector).bind(othersQueue).enable()) {
                    races += new LeavesAtOnce(pair, source, target.remote()).run(other, othersQueue);
                }
            }
            System.out.println(
                    "in " + attempts + " attempts a write arrived " + races + " times from a peer that had left");
        }

        /** How often the last write arrives after its peer has left: once, if the race happens. */
        private int run(Endpoint other, CompletionQueue othersQueue) {
            CompletionHandler counting = (token, flags, length, data) -> othersCompleted++;
            other.rma().writeData(source.slice(0, 8), OTHERS_DATA, pair.far, target, 0);
            forAMoment(() -> {
                othersQueue.poll(counting, 64);
                pair.farQueue.poll((token, flags, length, data) -> {}, 64);
                return false;
            });
            begin(OTHERS_DATA);
            pair.farQueue.progress(); // it accepts, and does not learn that it is accepted
            LockSupport.parkNanos(MOMENT);
            pair.farQueue.progress();
            int[] posted = {0};
            forAMoment(() -> {
                if (posted[0] < WRITES && other.rma().tryWriteData(source, 0, 8, OTHERS_DATA, pair.far, target, 0, 1)) {
                    posted[0]++;
                }
                othersQueue.poll(counting, 64);
                return othersCompleted > WRITES;
            });
            begin(LAST_DATA);
            System.out.println(
                    "the other has written " + othersCompleted + " times, who leaves " + pair.completed.size());
            pair.endpoint.close();
            LockSupport.parkNanos(MOMENT); // the target's end of the connection learns of it
            int[] late = {0};
            for (int poll = 0; poll < POLLS; poll++) {
                pair.farQueue.poll((token, flags, length, data) -> late[0] += data == LAST_DATA ? 1 : 0, 64);
                pair.pollNear();
            }
            return late[0];
        }

        /** Whoever leaves begins to write, or to connect, or goes on with it. */
        private void begin(long data) {
            boolean[] posted = {false};
            forAMoment(() -> {
                posted[0] = posted[0] || pair.rma().tryWriteData(source, 0, 8, data, pair.far, target, 0, 1);
                pair.pollNear();
                return false;
            });
        }

        private static void forAMoment(BooleanSupplier unless) {
            long end = System.nanoTime() + MOMENT;
            while (!unless.getAsBoolean() && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        }
    }
}
