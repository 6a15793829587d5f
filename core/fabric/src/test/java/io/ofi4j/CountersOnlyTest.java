package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints with counters and no queue, or with a queue for one direction. */
@Tag("gate")
@Timeout(600)
class CountersOnlyTest {
    private static final String TRANSFERS = "io.ofi4j.support.TestProviders#transfers";
    /** More than a queue has room for. */
    private static final int MANY = 10_000;

    /** Counters of both ends, and no queues. */
    private static final class Counting implements Pair.Wiring {
        Counter near;
        Counter far;

        @Override
        public Endpoint bindNear(Pair pair, Endpoint endpoint) {
            near = pair.openCounter(WaitObject.NONE);
            return endpoint.bind(near, CounterEvent.WRITE, CounterEvent.READ, CounterEvent.SEND);
        }

        @Override
        public Endpoint bindFar(Pair pair, Endpoint endpoint) {
            far = pair.openCounter(WaitObject.NONE);
            return endpoint.bind(far, CounterEvent.RECEIVE);
        }
    }

    /** A pair of endpoints with counters alone, and memory that the near one writes from and to. */
    private static final class Stage implements AutoCloseable {
        private final Counting counters = new Counting();
        final Pair pair;
        final MemoryRegion source;
        final MemoryRegion target;

        Stage(String provider) {
            pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), counters);
            source = pair.domain.allocate(64, Access.WRITE, Access.SEND);
            target = pair.domain.allocate(64, Access.REMOTE_WRITE, Access.RECEIVE);
        }

        boolean tryWrite(long token) { return pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, token); }

        void write(long token) { pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token); }

        /** Only the counters are read, and the domain makes progress at the far end. */
        void awaitWritten(long count) {
            Waiting.YIELD.until(() -> {
                pair.domain.progress();
                return counters.near.read() >= count;
            }, Pair.DEADLINE);
        }

        @Override
        public void close() {
            pair.endpoint.close();
            pair.farEndpoint.close();
            source.close();
            target.close();
            pair.close();
        }
    }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG);
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void writesAreCountedWithoutAQueue(String provider) {
        try (Stage s = new Stage(provider)) {
            assertThat(s.pair.endpoint.completionQueue(Direction.TRANSMIT)).isEmpty();
            for (int i = 1; i <= MANY; i++) {
                s.source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                s.write(i);
                if (i % 64 == 0) { s.awaitWritten(i); }
            }
            s.awaitWritten(MANY);
            Waiting.YIELD.until(() -> {
                s.counters.far.read();
                s.pair.domain.progress();
                return s.target.segment().get(ValueLayout.JAVA_LONG, 0) == MANY;
            }, Pair.DEADLINE);
            assertThat(s.counters.near.readErrors()).isZero();
        }
    }

    /** Over some providers a post makes room itself, over the others the reads of the counters do. */
    @ForEachProvider
    @MethodSource(TRANSFERS)
    void postsFindRoomAgain(String provider) {
        try (Stage s = new Stage(provider)) {
            int[] posted = new int[1];
            Waiting.YIELD.until(() -> {
                while (posted[0] < MANY && s.tryWrite(posted[0])) {
                    posted[0]++;
                }
                s.counters.near.read();
                s.counters.far.read();
                return posted[0] == MANY;
            }, Pair.DEADLINE);
            s.awaitWritten(MANY);
        }
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void messagesAreCountedWithoutQueues(String provider) {
        try (Stage s = new Stage(provider)) {
            for (int i = 1; i <= 100; i++) {
                s.source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                s.pair.farEndpoint.messages().receive(s.target.slice(0, 64), i);
                s.pair.endpoint.messages().send(s.source.slice(0, 8), s.pair.far, i);
                int count = i;
                Waiting.YIELD.until(() -> s.counters.near.read() >= count & s.counters.far.read() >= count,
                        Pair.DEADLINE);
                assertThat(s.target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
            }
        }
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void aQueueForTransmitsAloneIsEnough(String provider) {
        Pair.Wiring transmits = new Pair.Wiring() {
            @Override
            public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                return endpoint.bind(pair.queue, Direction.TRANSMIT);
            }
        };
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), transmits);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 7);
            pair.awaitToken(7);

            assertThat(pair.endpoint.completionQueue(Direction.TRANSMIT)).contains(pair.queue);
            assertThat(pair.endpoint.completionQueue(Direction.RECEIVE)).isEmpty();
        }
    }

    /** Those that report a read with an unknown key. */
    static Stream<String> reporting() {
        return TestProviders.rma().filter(name -> !name.equals("shm") && !name.contains("ofi_rxd"));
    }

    @ForEachProvider
    @MethodSource("reporting")
    void aFailureIsCountedAndEndsTheWait(String provider) {
        try (Stage s = new Stage(provider);
                MemoryRegion into = s.pair.domain.allocate(2048, Access.READ);
                ProgressThread progress = s.pair.domain.startProgress()) {
            RemoteRegion right = s.target.remote();
            RemoteRegion wrong = new RemoteRegion(right.base(), 2048, right.key() ^ 0x5555555,
                    Access.REMOTE_READ.bit());
            s.write(1);
            s.counters.near.await(1, Pair.DEADLINE);
            s.pair.rma().read(into.slice(0, 2048), s.pair.far, wrong, 2);

            assertThatExceptionOfType(FabricException.class).isThrownBy(() -> s.counters.near.await(2, Pair.DEADLINE))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EAVAIL))
                    .withMessageContaining("an operation failed");
            assertThat(s.counters.near.readErrors()).isEqualTo(1);
            assertThat(s.counters.near.read()).isEqualTo(1);
            assertThat(progress.failure()).isEmpty();
        }
    }

    @Test
    void anOperationThatTheCloseCancelsIsNoFailure() {
        try (Stage s = new Stage("shm")) {
            s.pair.farEndpoint.messages().receive(s.target.slice(0, 64), 1);
            s.pair.farEndpoint.close();

            assertThat(s.counters.far.readErrors()).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aRegionInUseIsFreedWithoutAQueue(String provider) {
        try (Stage s = new Stage(provider)) {
            s.write(1);
            s.source.close();
            s.awaitWritten(1);
            Waiting.YIELD.until(() -> {
                s.pair.domain.progress();
                s.counters.near.read();
                return s.pair.domain.statistics().regions() == 1;
            }, Pair.DEADLINE);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointThatNothingReportsIsNotEnabled(String provider) {
        try (Pair pair = new Pair(provider); Endpoint endpoint = pair.domain.openEndpoint().bind(pair.vector)) {
            assertThatIllegalStateException().isThrownBy(endpoint::enable)
                    .withMessageContaining("a completion queue or a counter");
        }
    }
}
