package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints with counters and no queue, or with a queue for one direction. */
@Timeout(120)
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

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG);
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void writesAreCountedWithoutAQueue(String provider) {
        Counting counters = new Counting();
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), counters);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            assertThat(pair.endpoint.completionQueue(Direction.TRANSMIT)).isEmpty();
            for (int i = 1; i <= MANY; i++) {
                source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, i);
                if (i % 64 == 0) { await(pair, counters.near, i); }
            }
            await(pair, counters.near, MANY);
            Waiting.YIELD.until(() -> {
                counters.far.read();
                pair.domain.progress();
                return target.segment().get(ValueLayout.JAVA_LONG, 0) == MANY;
            }, Pair.DEADLINE);
            assertThat(counters.near.readErrors()).isZero();
        }
    }

    /** Only the counters are read, and the domain makes progress at the far end. */
    private static void await(Pair pair, Counter counter, long count) {
        Waiting.YIELD.until(() -> {
            pair.domain.progress();
            return counter.read() >= count;
        }, Pair.DEADLINE);
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void postsFindRoomAgainOnceCountersWereRead(String provider) {
        Counting counters = new Counting();
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), counters);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            int posted = 0;
            while (posted < MANY) {
                if (pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, posted)) {
                    posted++;
                } else {
                    counters.near.read();
                    counters.far.read();
                }
            }
            await(pair, counters.near, MANY);
        }
    }

    @ForEachProvider
    @MethodSource(TRANSFERS)
    void messagesAreCountedWithoutQueues(String provider) {
        Counting counters = new Counting();
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), counters);
                MemoryRegion near = pair.domain.allocate(64, Access.SEND);
                MemoryRegion far = pair.domain.allocate(64, Access.RECEIVE)) {
            for (int i = 1; i <= 100; i++) {
                near.segment().set(ValueLayout.JAVA_LONG, 0, i);
                pair.farEndpoint.messages().receive(far, 0, 64, i);
                pair.endpoint.messages().send(near, 0, 8, pair.far, i);
                int count = i;
                Waiting.YIELD.until(() -> counters.near.read() >= count & counters.far.read() >= count, Pair.DEADLINE);
                assertThat(far.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
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
            pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, 7);
            pair.awaitToken(7);

            assertThat(pair.endpoint.completionQueue(Direction.TRANSMIT)).contains(pair.queue);
            assertThat(pair.endpoint.completionQueue(Direction.RECEIVE)).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aRegionInUseIsFreedWithoutAQueue(String provider) {
        Counting counters = new Counting();
        try (Pair pair = new Pair(hints(provider), CompletionQueueAttributes.defaults(), counters);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
            pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, 1);
            source.close();
            await(pair, counters.near, 1);
            Waiting.YIELD.until(() -> {
                pair.domain.progress();
                counters.near.read();
                return pair.domain.statistics().regions() == 1;
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
