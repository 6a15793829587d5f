package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.DeferredOperation.State;
import io.ofi4j.DeferredWork.When;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that a counter starts, over the one software provider that has them. */
@Tag("gate")
@Timeout(300)
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
            trigger = pair.openCounter(WaitObject.NONE);
            done = pair.openCounter(WaitObject.NONE);
            deferred = pair.domain.deferredWork();
            here.segment().fill((byte) 1);
            there.segment().fill((byte) 2);
        }

        void poll() {
            pair.pollNear();
            pair.farQueue.poll(new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) { farTokens.add(token); }

                @Override
                public void onError(CompletionError error) { pair.farErrors.add(error); }
            }, LENGTH);
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

        PreparedRma rma() {
            return pair.rma().prepare().peer(pair.far).local(here, 0, LENGTH).remote(there.remote(), 0, LENGTH);
        }

        PreparedMessage message() { return pair.endpoint.messages().prepare().peer(pair.far).local(here, 0, LENGTH); }

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
            DeferredOperation queue(Stage s, When when) {
                s.pair.farEndpoint.messages().receive(s.there.slice(0, LENGTH), TOKEN);
                return when.send(s.message(), s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return s.farTokens.contains(TOKEN) && s.has(s.there, 1); }
        },
        TAGGED_SEND {
            @Override
            DeferredOperation queue(Stage s, When when) {
                s.pair.farEndpoint.tagged().receive(s.there.slice(0, LENGTH), 0x11, 0, TOKEN);
                return when.send(s.pair.endpoint.tagged().prepare().peer(s.pair.far).local(s.here, 0, LENGTH).tag(0x11),
                        s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return s.farTokens.contains(TOKEN) && s.has(s.there, 1); }
        },
        RECEIVE {
            @Override
            DeferredOperation queue(Stage s, When when) {
                DeferredOperation work = when.receive(s.pair.farEndpoint.messages().prepare()
                        .local(s.there, 0, LENGTH / 2).local(s.there, LENGTH / 2, LENGTH / 2), s.done, TOKEN);
                s.pair.endpoint.messages().send(s.here.slice(0, LENGTH), s.pair.far, 1);
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        TAGGED_RECEIVE {
            @Override
            DeferredOperation queue(Stage s, When when) {
                DeferredOperation work = when.receive(
                        s.pair.farEndpoint.tagged().prepare().local(s.there, 0, LENGTH).tag(0x22), s.done, TOKEN);
                s.pair.endpoint.tagged().send(s.here.slice(0, LENGTH), s.pair.far, 0x22, 1);
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        WRITE {
            @Override
            DeferredOperation queue(Stage s, When when) {
                PreparedRma message = s.rma().clear().local(s.here, 0, 8).local(s.here, 8, LENGTH - 8)
                        .remote(s.there.remote(), 0, 16).remote(s.there.remote(), 16, LENGTH - 16);
                DeferredOperation work = when.write(message, s.done, TOKEN);
                message.clear(); // it was copied
                return work;
            }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.there, 1); }
        },
        READ {
            @Override
            DeferredOperation queue(Stage s, When when) { return when.read(s.rma(), s.done, TOKEN); }

            @Override
            boolean hasHappened(Stage s) { return s.has(s.here, 2); }
        },
        ATOMIC {
            @Override
            DeferredOperation queue(Stage s, When when) {
                return when.execute(AtomicOperation.SUM, atomic(s), s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES + TWOS; }
        },
        FETCH_ATOMIC {
            @Override
            DeferredOperation queue(Stage s, When when) {
                return when.fetch(AtomicOperation.SUM, atomic(s).result(s.here, 16, 1), s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES + TWOS && number(s.here, 16) == TWOS; }
        },
        COMPARE_ATOMIC {
            @Override
            DeferredOperation queue(Stage s, When when) {
                s.here.segment().set(JAVA_LONG, 24, TWOS);
                return when.compare(AtomicOperation.CSWAP, atomic(s).result(s.here, 16, 1).comparand(s.here, 24, 1),
                        s.done, TOKEN);
            }

            @Override
            boolean hasHappened(Stage s) { return number(s.there, 0) == ONES && number(s.here, 16) == TWOS; }
        },
        COUNTER_SET {
            @Override
            DeferredOperation queue(Stage s, When when) {
                s.done.add(9);
                return when.set(s.done, 5);
            }

            @Override
            boolean hasHappened(Stage s) { return s.done.read() == 5; }
        },
        COUNTER_ADD {
            @Override
            DeferredOperation queue(Stage s, When when) {
                s.done.add(9);
                return when.add(s.done, 5);
            }

            @Override
            boolean hasHappened(Stage s) { return s.done.read() == 14; }
        };

        static final long ONES = 0x0101010101010101L;
        static final long TWOS = 0x0202020202020202L;

        abstract DeferredOperation queue(Stage s, When when);

        abstract boolean hasHappened(Stage s);

        boolean isOfCounters() { return this == COUNTER_ADD || this == COUNTER_SET; }

        static PreparedAtomic atomic(Stage s) {
            return s.pair.endpoint.atomics().prepare(Datatype.INT64).peer(s.pair.far).local(s.here, 0, 1)
                    .remote(s.there.remote(), 0, 1);
        }

        static long number(MemoryRegion region, long offset) { return region.segment().get(JAVA_LONG, offset); }
    }

    static Stream<Arguments> kinds() {
        return Stream.of(PROVIDER, "MSG " + PROVIDER)
                .flatMap(provider -> Stream.of(Kind.values()).map(kind -> Arguments.of(provider, kind)));
    }

    @ParameterizedTest(name = "{1} over {0}")
    @MethodSource("kinds")
    void workRunsAtItsThresholdAndNotBefore(String provider, Kind kind) {
        try (Stage s = new Stage(provider)) {
            DeferredOperation work = kind.queue(s, s.deferred.when(s.trigger, 2));
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
            DeferredOperation work = kind.queue(s, s.deferred.when(s.trigger, 3));
            s.await(() -> kind.hasHappened(s) && work.state() == State.DONE);
        }
    }

    @Test
    void workIsTriggeredByTheCompletionsOfEarlierWork() {
        try (Stage s = new Stage(PROVIDER); Counter middle = s.pair.domain.openCounter()) {
            MemoryRegion back = s.pair.domain.allocate(LENGTH, ALL);
            // writes to the far end, then reads it back from there, then counts
            DeferredOperation last = s.deferred.when(middle, 1).read(
                    s.pair.rma().prepare().peer(s.pair.far).local(back, 0, LENGTH).remote(s.there.remote(), 0, LENGTH),
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

    /** Members that send each other empty messages, all of which are queued before the first member enters. */
    @Test
    void sendsAloneMakeABarrier() {
        int members = 4;
        int rounds = 2;
        FabricHints hints = hints(PROVIDER);
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                MemoryRegion region = domain.allocate(LENGTH, ALL)) {
            List<Endpoint> endpoints = IntStream.range(0, members)
                    .mapToObj(i -> domain.openEndpoint().bind(vector).bind(queue).enable()).toList();
            List<Peer> peers = endpoints.stream().map(one -> vector.insert(one.address())).toList();
            List<List<Counter>> passed = IntStream.range(0, members)
                    .mapToObj(i -> IntStream.rangeClosed(0, rounds).mapToObj(round -> domain.openCounter()).toList())
                    .toList();
            Counter sent = domain.openCounter();
            DeferredWork deferred = domain.deferredWork();
            for (int i = 0; i < members; i++) {
                Tagged tagged = endpoints.get(i).tagged();
                for (int round = 0; round < rounds; round++) {
                    When when = deferred.when(passed.get(i).get(round), round == 0 ? 1 : 2);
                    Counter next = passed.get(i).get(round + 1);
                    Peer to = peers.get((i + (1 << round)) % members);
                    when.send(tagged.prepare().tag(round).peer(to).local(region, 0, 0), sent, i);
                    when.add(next, 1);
                    deferred.when(sent, 0).receive(tagged.prepare().tag(round).local(region, 0, 8), next, i);
                }
            }
            for (int last = 0; last < members; last++) {
                assertThat(passed).extracting(counters -> counters.getLast().read()).allMatch(count -> count < 2);
                passed.get(last).getFirst().add(1);
                Waiting.YIELD.tryUntil(() -> queue.poll((token, flags, length, data) -> {}, 8) < 0,
                        Duration.ofMillis(20));
            }
            for (List<Counter> counters : passed) {
                Waiting.YIELD.until(() -> {
                    queue.poll((token, flags, length, data) -> {}, 8);
                    return counters.getLast().read() == 2;
                }, Pair.DEADLINE);
            }
            Waiting.YIELD.until(() -> region.operationsInFlight() == 0, Pair.DEADLINE);
            assertThat(sent.read()).isEqualTo((long) members * rounds);
            endpoints.forEach(Endpoint::close);
            sent.close();
            passed.forEach(counters -> counters.forEach(Counter::close));
        }
    }

    @Test
    void aRegionThatIsClosedUnderItsWorkIsThereUntilTheWorkHasEnded() {
        try (Stage s = new Stage(PROVIDER)) {
            s.deferred.when(s.trigger, 1).write(s.rma(), s.done, TOKEN);
            s.here.close();
            assertThat(s.here.isOpen()).isFalse();
            s.pause();
            assertThat(s.pair.domain.statistics().closingRegions()).isEqualTo(1);
            s.trigger.add(1);
            s.await(s.done, 1);
            assertThat(s.has(s.there, 1)).isTrue();
            s.await(() -> s.pair.domain.statistics().closingRegions() == 0);
        }
    }

    @Test
    void workOfOneThresholdRunsHoweverMuchOfItThereIs() {
        int many = 1500;
        try (Stage s = new Stage(PROVIDER)) {
            s.there.segment().set(JAVA_LONG, 0, 0);
            s.here.segment().set(JAVA_LONG, 0, 1);
            for (int i = 0; i < many; i++) {
                s.deferred.when(s.trigger, 1).execute(AtomicOperation.SUM, Kind.atomic(s), s.done, i);
            }
            s.trigger.add(1);
            s.await(() -> s.inFlight() == 0);
            assertThat(Kind.number(s.there, 0)).isEqualTo(many);
            assertThat(s.done.read()).isEqualTo(many);
        }
    }

    @Test
    void workThatFailsComesBackWithItsTokenAndIsNotCounted() {
        try (Stage s = new Stage(PROVIDER)) {
            RemoteRegion theirs = s.there.remote();
            RemoteRegion forged = new RemoteRegion(theirs.base(), LENGTH, theirs.key() + 1, Access.REMOTE_WRITE.bit());
            DeferredOperation work = s.deferred.when(s.trigger, 1).write(
                    s.pair.rma().prepare().peer(s.pair.far).local(s.here, 0, LENGTH).remote(forged, 0, LENGTH), s.done,
                    TOKEN);
            s.trigger.add(1);
            s.await(() -> !s.pair.errors.isEmpty());
            assertThat(s.pair.errors).extracting(CompletionError::token).containsExactly(TOKEN);
            assertThat(work.state()).isEqualTo(State.FAILED);
            assertThat(work.cancel()).isFalse();
            assertThat(s.inFlight()).isZero();
            assertThat(s.done.read()).isZero();
        }
    }

    @Test
    void anEndpointWhoseWorkWaitsForItsCounterIsNotClosedAndNamesIt() {
        try (Stage s = new Stage(PROVIDER)) {
            DeferredOperation write = s.deferred.when(s.trigger, 1).write(s.rma(), s.done, TOKEN);
            assertThatThrownBy(write::cancel).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fi_control(FI_CANCEL_WORK)").hasMessageContaining(PROVIDER);
            assertThatIllegalStateException().isThrownBy(s.trigger::close)
                    .withMessageContaining("deferred fi_writemsg");
            assertThatIllegalStateException().isThrownBy(s.done::close).withMessageContaining("deferred fi_writemsg");
            assertThatIllegalStateException().isThrownBy(s.pair.endpoint::close)
                    .withMessageContaining("deferred fi_writemsg").withMessageContaining("for 1 on Counter");
            assertThat(write.state()).isEqualTo(State.QUEUED);
            assertThat(s.inFlight()).isPositive();

            s.pair.rma().write(s.here.slice(0, 8), s.pair.far, s.there.remote().slice(8, 8), 2); // it is open
            s.trigger.add(1);
            s.pair.endpoint.close(); // which waits for what is under way
            assertThat(write.state()).isEqualTo(State.DONE);
            assertThat(s.has(s.there, 1)).isTrue();
            assertThat(s.inFlight()).isZero();
            assertThat(s.pair.errors).isEmpty();
        }
    }

    @Test
    void aReceiveThatIsUnderWayIsCanceledAsOthersAre() {
        try (Stage s = new Stage(PROVIDER)) {
            PreparedMessage message = s.pair.endpoint.messages().prepare().local(s.here, 0, LENGTH);
            DeferredOperation receive = s.deferred.when(s.trigger, 0).receive(message, s.done, TOKEN);
            assertThat(receive.cancel()).isFalse();
            s.await(() -> !s.pair.errors.isEmpty());
            assertThat(s.pair.errors).extracting(CompletionError::token).containsExactly(TOKEN);
            assertThat(s.pair.errors.removeFirst().errno()).isEqualTo(125);
            assertThat(receive.state()).isEqualTo(State.FAILED);

            DeferredOperation another = s.deferred.when(s.trigger, 0).receive(message, s.done, 8);
            s.pair.endpoint.close();
            assertThat(another.state()).isEqualTo(State.CANCELED);
            s.await(() -> !s.pair.errors.isEmpty());
            assertThat(s.pair.errors).extracting(CompletionError::token).containsExactly(8L);
            assertThat(s.pair.errors.getFirst().errno()).isEqualTo(125);
            assertThat(s.done.read()).isZero();
            assertThat(s.inFlight()).isZero();
        }
    }

    @Test
    void aCounterThatChangesWaitForIsNotClosedAndNamesThem() {
        try (Stage s = new Stage(PROVIDER)) {
            Counter trigger = s.pair.domain.openCounter();
            DeferredOperation work = s.deferred.when(trigger, 1).add(s.done, 5);
            assertThatIllegalStateException().isThrownBy(s.done::close).withMessageContaining("deferred fi_cntr_add");
            assertThatIllegalStateException().isThrownBy(trigger::close).withMessageContaining("deferred fi_cntr_add");
            trigger.add(1);
            assertThat(s.done.read()).isEqualTo(5);
            trigger.close();
            assertThat(work.state()).isEqualTo(State.DONE);
        }
    }

    @Test
    void whatWouldStartInsideTheLocksOfItsCauseIsRefused() {
        try (Stage s = new Stage(PROVIDER)) {
            assertThatThrownBy(() -> s.deferred.when(s.trigger, 1).set(s.trigger, 0))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("lead back");
            s.deferred.when(s.trigger, 1).add(s.done, 1);
            assertThatThrownBy(() -> s.deferred.when(s.done, 1).add(s.trigger, 1))
                    .isInstanceOf(UnsupportedOperationException.class);
            s.trigger.add(1);
            assertThat(s.done.read()).isEqualTo(1);
            s.deferred.when(s.done, 2).add(s.trigger, 1); // the other has ended
            s.done.add(1);
            assertThat(s.trigger.read()).isEqualTo(2);
        }
        try (Stage s = new Stage(PROVIDER); Counter sent = s.pair.domain.openCounter()) {
            s.deferred.when(s.done, 1).write(s.rma(), s.done, 1); // writes and reads may start each other
            s.deferred.when(sent, 1).add(s.done, 1);
            assertThatThrownBy(() -> s.deferred.when(s.trigger, 1).send(s.message(), sent, 2))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("the same endpoint");
            DeferredOperation receive = s.deferred.when(s.trigger, 1)
                    .receive(s.pair.endpoint.messages().prepare().local(s.here, 0, 8), sent, 3);
            assertThatThrownBy(() -> s.deferred.when(sent, 1)
                    .receive(s.pair.endpoint.messages().prepare().local(s.here, 0, 8), s.trigger, 4))
                    .isInstanceOf(UnsupportedOperationException.class);
            s.trigger.add(1);
            receive.cancel();
            sent.add(1); // the counters and endpoints are closed after all of it
            s.await(() -> s.inFlight() == 0);
        }
    }

    @Test
    void whatTheProviderWouldGetWrongIsRefused() {
        try (Stage s = new Stage(PROVIDER)) {
            assertThatIllegalArgumentException().isThrownBy(() -> s.deferred.when(s.trigger, 1L << 31))
                    .withMessageContaining("0 to 2147483647");
            PreparedAtomic two = s.pair.endpoint.atomics().prepare(Datatype.INT64).peer(s.pair.far).local(s.here, 0, 2)
                    .remote(s.there.remote(), 0, 1).remote(s.there.remote(), 16, 1);
            assertThatThrownBy(() -> s.deferred.when(s.trigger, 1).execute(AtomicOperation.SUM, two, s.done, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("remote segments");
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> s.deferred.when(s.trigger, 1).write(s.rma().flags(OperationFlag.INJECT), s.done, 1))
                    .withMessageContaining("INJECT");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void othersRefuseByName(String provider) {
        if (provider.equals(PROVIDER)) { return; }
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(pair.domain::deferredWork).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fi_control(FI_QUEUE_WORK)").hasMessageContaining("provider " + provider)
                    .hasMessageContaining("Capability.TRIGGER");
        }
        FabricHints hints = hints(provider);
        assertThatThrownBy(() -> TestProviders.info(hints)).isInstanceOf(NoProviderException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {PROVIDER, "MSG " + PROVIDER})
    void theProcessOutlivesWhatIsClosedUnderWork(String provider) {
        Forked.Result result = Forked.run(ClosesUnderWork.class, provider);
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("done");
    }

    @Test
    void theProcessOutlivesReceivesThatAreCanceledWhileTheirEndpointCloses() {
        Forked.Result result = Forked.run(CancelsUnderClose.class, PROVIDER);
        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Cancels receives in flight, again and again, until the close of their endpoint has ended them. */
    static final class CancelsUnderClose {
        private static final int ROUNDS = 100;

        private CancelsUnderClose() {}

        private static void cancelUntilEnded(List<DeferredOperation> receives) {
            Waiting.SPIN.until(() -> {
                receives.forEach(DeferredOperation::cancel);
                return receives.stream().noneMatch(one -> one.state() == State.QUEUED);
            }, Pair.DEADLINE);
        }

        public static void main(String[] arguments) throws InterruptedException {
            for (int round = 0; round < ROUNDS; round++) {
                try (Stage s = new Stage(arguments[0])) {
                    PreparedMessage message = s.pair.endpoint.messages().prepare().local(s.here, 0, LENGTH);
                    List<DeferredOperation> receives = IntStream.range(0, 8)
                            .mapToObj(i -> s.deferred.when(s.trigger, 0).receive(message, s.done, i)).toList();
                    Thread canceling = Thread.ofPlatform().start(() -> cancelUntilEnded(receives));
                    s.pair.endpoint.close();
                    if (!canceling.join(Pair.DEADLINE)) { throw new AssertionError("the receives did not end"); }
                }
            }
        }
    }

    /** Closes endpoints under work, and has others drive the counter that it waited for. */
    static final class ClosesUnderWork {
        private static final int ROUNDS = 20;

        private ClosesUnderWork() {}

        private static void requireRefused(Runnable close) {
            try {
                close.run();
            } catch (IllegalStateException e) {
                return;
            }
            throw new AssertionError("an endpoint was closed under work that waits");
        }

        public static void main(String[] arguments) {
            for (int round = 0; round < ROUNDS; round++) {
                try (Stage s = new Stage(arguments[0])) {
                    List<DeferredOperation> works = new ArrayList<>();
                    for (int i = 0; i < 8; i++) {
                        works.add(s.deferred.when(s.trigger, i + 2).write(s.rma(), s.done, i));
                        works.add(s.deferred.when(s.trigger, i + 2).send(s.message(), s.done, i));
                        works.add(s.deferred.when(s.trigger, i + 2)
                                .receive(s.pair.endpoint.messages().prepare().local(s.here, 0, LENGTH), s.done, i));
                    }
                    Counter hand = s.pair.openCounter(WaitObject.NONE);
                    // what the provider does, whatever is closed here
                    DeferredOperation driver = s.deferred.when(hand, 1).add(s.trigger, 50);
                    if (round % 2 == 1) { s.trigger.add(4); }
                    requireRefused(s.pair.endpoint::close);
                    hand.add(1);
                    s.await(() -> driver.state() == State.DONE);
                    s.pair.endpoint.close();
                    s.trigger.add(1);
                    s.pause();
                    if (works.stream().anyMatch(work -> work.state() == State.QUEUED)) {
                        throw new AssertionError(
                                "round " + round + ": " + works.stream().map(DeferredOperation::state).toList());
                    }
                }
            }
            System.out.println("done");
        }
    }
}
