package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.DeferredWork.State;
import io.ofi4j.DeferredWork.When;
import io.ofi4j.DeferredWork.Work;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that a counter starts, over the one software provider that has them. */
@Timeout(60)
class DeferredWorkTest {
    private static final String PROVIDER = "sockets";
    private static final int LENGTH = 64;
    private static final long TOKEN = 7;
    private static final Access[] ALL = Access.values();

    /** Two endpoints with a region each, and counters that nothing is bound to. */
    static final class Stage implements AutoCloseable {
        final Pair pair;
        final MemoryRegion here;
        final MemoryRegion there;
        final Counter trigger;
        final Counter done;
        final DeferredWork deferred;
        final List<Long> farTokens = new ArrayList<>();

        Stage(String provider) {
            pair = new Pair(hints(provider));
            here = pair.domain.allocate(LENGTH, ALL);
            there = pair.domain.allocate(LENGTH, ALL);
            trigger = pair.openCounter(io.ofi4j.info.WaitObject.NONE);
            done = pair.openCounter(io.ofi4j.info.WaitObject.NONE);
            deferred = pair.domain.deferredWork();
            here.segment().fill((byte) 1);
            there.segment().fill((byte) 2);
        }

        void poll() {
            pair.pollNear();
            pair.farQueue.poll((token, flags, length, data) -> farTokens.add(token), LENGTH);
        }

        void await(BooleanSupplier condition) {
            Waiting.YIELD.until(() -> {
                poll();
                return condition.getAsBoolean();
            }, Pair.DEADLINE);
        }

        void await(Counter counter, long count) { await(() -> counter.read() >= count); }

        /** Polls for so long that what is under way would have arrived. */
        void pause() {
            Waiting.YIELD.tryUntil(() -> {
                poll();
                return false;
            }, Duration.ofMillis(50));
        }

        RmaMessage rma() {
            return pair.rma().message().peer(pair.far).local(here, 0, LENGTH).remote(there.remote(), 0, LENGTH);
        }

        PreparedMessage message() { return pair.endpoint.messages().message().peer(pair.far).segment(here, 0, LENGTH); }

        int inFlight() { return here.operationsInFlight() + there.operationsInFlight(); }

        boolean has(MemoryRegion region, int value) {
            return region.segment().elements(JAVA_BYTE).allMatch(one -> one.get(JAVA_BYTE, 0) == value);
        }

        @Override
        public void close() {
            here.close();
            there.close();
            pair.close();
        }
    }

    static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA,
                Capability.ATOMIC, Capability.TRIGGER);
    }

    /** What is queued, and whether it has happened. */
    private enum Kind {
        SEND {
            @Override
            Work queue(Stage s, When when) {
                s.pair.farEndpoint.messages().receive(s.there, 0, LENGTH, TOKEN);
                return when.send(s.message(), s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return s.farTokens.contains(TOKEN) && s.has(s.there, 1); }
        },
        TAGGED_SEND {
            @Override
            Work queue(Stage s, When when) {
                s.pair.farEndpoint.tagged().receive(s.there, 0, LENGTH, 0x11, 0, TOKEN);
                return when.send(
                        s.pair.endpoint.tagged().message().peer(s.pair.far).segment(s.here, 0, LENGTH).tag(0x11),
                        s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return s.farTokens.contains(TOKEN) && s.has(s.there, 1); }
        },
        RECEIVE {
            @Override
            Work queue(Stage s, When when) {
                Work work = when.receive(s.pair.farEndpoint.messages().message().segment(s.there, 0, LENGTH / 2)
                        .segment(s.there, LENGTH / 2, LENGTH / 2), s.done, TOKEN);
                s.pair.endpoint.messages().send(s.here, 0, LENGTH, s.pair.far, 1);
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        TAGGED_RECEIVE {
            @Override
            Work queue(Stage s, When when) {
                Work work = when.receive(s.pair.farEndpoint.tagged().message().segment(s.there, 0, LENGTH).tag(0x22),
                        s.done, TOKEN);
                s.pair.endpoint.tagged().send(s.here, 0, LENGTH, s.pair.far, 0x22, 1);
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        WRITE {
            @Override
            Work queue(Stage s, When when) {
                RmaMessage message = s.rma().clear().local(s.here, 0, 8).local(s.here, 8, LENGTH - 8)
                        .remote(s.there.remote(), 0, 16).remote(s.there.remote(), 16, LENGTH - 16);
                Work work = when.write(message, s.done, TOKEN);
                message.clear(); // it was copied
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        READ {
            @Override
            Work queue(Stage s, When when) { return when.read(s.rma(), s.done, TOKEN); }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.here, 2); }
        },
        ATOMIC {
            @Override
            Work queue(Stage s, When when) { return when.execute(AtomicOperation.SUM, atomic(s), s.done, TOKEN); }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES + TWOS; }
        },
        FETCH_ATOMIC {
            @Override
            Work queue(Stage s, When when) {
                return when.fetch(AtomicOperation.SUM, atomic(s).result(s.here, 16, 1), s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES + TWOS && number(s.here, 16) == TWOS; }
        },
        COMPARE_ATOMIC {
            @Override
            Work queue(Stage s, When when) {
                s.here.segment().set(JAVA_LONG, 24, TWOS);
                return when.compare(AtomicOperation.CSWAP, atomic(s).result(s.here, 16, 1).comparand(s.here, 24, 1),
                        s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES && number(s.here, 16) == TWOS; }
        },
        COUNTER_SET {
            @Override
            Work queue(Stage s, When when) {
                s.done.add(9);
                return when.set(s.done, 5);
            }

            @Override
            boolean hasHappened(Stage s) { return s.done.read() == 5; }
        },
        COUNTER_ADD {
            @Override
            Work queue(Stage s, When when) {
                s.done.add(9);
                return when.add(s.done, 5);
            }

            @Override
            boolean hasHappened(Stage s) { return s.done.read() == 14; }
        };

        static final long ONES = 0x0101010101010101L;
        static final long TWOS = 0x0202020202020202L;

        abstract Work queue(Stage s, When when);

        abstract boolean hasHappened(Stage s);

        boolean isOfCounters() { return this == COUNTER_ADD || this == COUNTER_SET; }

        static AtomicMessage atomic(Stage s) {
            return s.pair.endpoint.atomics().message(Datatype.INT64).peer(s.pair.far).operand(s.here, 0, 1)
                    .remote(s.there.remote(), 0, 1);
        }

        static long number(MemoryRegion region, long offset) { return region.segment().get(JAVA_LONG, offset); }

        boolean isOffered(String provider) {
            return !provider.startsWith("MSG") || this != TAGGED_SEND && this != TAGGED_RECEIVE;
        }
    }

    static Stream<Arguments> kinds() {
        return Stream.of(PROVIDER, "MSG " + PROVIDER).flatMap(provider -> Stream.of(Kind.values())
                .filter(kind -> kind.isOffered(provider)).map(kind -> Arguments.of(provider, kind)));
    }

    @ParameterizedTest(name = "{1} over {0}")
    @MethodSource("kinds")
    void workRunsAtItsThresholdAndNotBefore(String provider, Kind kind) {
        try (Stage s = new Stage(provider)) {
            Work work = kind.queue(s, s.deferred.when(s.trigger, 2));
            s.trigger.add(1);
            System.gc();
            s.pause();
            assertThat(kind.hasHappened(s)).as("before").isFalse();
            assertThat(work.state()).isEqualTo(State.QUEUED);
            if (!kind.isOfCounters()) { assertThat(s.inFlight()).isPositive(); }
            s.trigger.add(1);
            s.await(() -> kind.hasHappened(s));
            s.await(() -> work.state() == State.DONE);
            if (!kind.isOfCounters()) { assertThat(s.done.read()).isEqualTo(1); }
            s.await(() -> s.inFlight() == 0);
            assertThat(s.pair.errors).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void workWhoseThresholdIsReachedRunsAtOnce(Kind kind) {
        try (Stage s = new Stage(PROVIDER)) {
            s.trigger.set(3);
            Work work = kind.queue(s, s.deferred.when(s.trigger, 3));
            s.await(() -> kind.hasHappened(s) && work.state() == State.DONE);
        }
    }

    @Test
    void workIsTriggeredByTheCompletionsOfEarlierWork() {
        try (Stage s = new Stage(PROVIDER); Counter middle = s.pair.domain.openCounter()) {
            MemoryRegion back = s.pair.domain.allocate(LENGTH, ALL);
            // writes to the far end, then reads it back from there, then counts
            Work last = s.deferred.when(middle, 1).read(
                    s.pair.rma().message().peer(s.pair.far).local(back, 0, LENGTH).remote(s.there.remote(), 0, LENGTH),
                    s.done, 2);
            s.deferred.when(s.trigger, 1).write(s.rma(), middle, 1);
            s.pause();
            assertThat(s.done.read()).isZero();
            s.trigger.add(1);
            s.await(s.done, 1);
            assertThat(s.has(back, 1)).isTrue();
            s.await(() -> last.state() == State.DONE);
            back.close();
        }
    }
}
