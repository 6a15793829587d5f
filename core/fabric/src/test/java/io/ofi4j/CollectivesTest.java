package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Collective;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Libfabric's collective operations among endpoints of one process, against what Java computes; and refused where they
 * break.
 */
@Timeout(600)
class CollectivesTest {
    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final Datatype INT64 = Datatype.INT64;
    private static final int LENGTH = 1 << 18;
    private static final long UNTOUCHED = 0x5a5a5a5a5a5a5a5aL;

    /** Members with a queue each. */
    static final class Stage implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final AddressVector vector;
        final List<CompletionQueue> queues = new ArrayList<>();
        final List<Endpoint> endpoints = new ArrayList<>();
        final List<Peer> peers = new ArrayList<>();
        final List<MemoryRegion> regions = new ArrayList<>();
        final List<MemoryRegion> results = new ArrayList<>();
        private long nextToken = 1;

        Stage(int members) {
            fabric = Libfabric.load().openFabric(TestProviders.info(hints(PROVIDER)));
            domain = fabric.openDomain();
            vector = domain.openAddressVector();
            for (int i = 0; i < members; i++) {
                queues.add(domain.openCompletionQueue());
                endpoints.add(domain.openEndpoint().bind(vector).bind(queues.get(i)).enable());
                peers.add(vector.insert(endpoints.get(i).address()));
                regions.add(domain.allocate(LENGTH, Access.SEND, Access.RECEIVE));
                results.add(domain.allocate(LENGTH, Access.SEND, Access.RECEIVE));
            }
        }

        List<CollectiveGroup> join(int... ranks) {
            List<Peer> members = IntStream.of(ranks).mapToObj(peers::get).toList();
            List<CollectiveGroup> groups = IntStream.of(ranks)
                    .mapToObj(i -> endpoints.get(i).collectives().join(members)).toList();
            groups.forEach(group -> group.awaitJoined(Pair.DEADLINE));
            return groups;
        }

        List<CollectiveGroup> joinAll() { return join(IntStream.range(0, endpoints.size()).toArray()); }

        /** What one member posts with a token. */
        interface Step {
            void post(int member, long token);
        }

        /** Has the members post, and waits for one completion of each. */
        void run(Step step, int... members) {
            long token = nextToken++;
            for (int member : members) {
                step.post(member, token);
            }
            for (int member : members) {
                awaitToken(member, token);
            }
        }

        void awaitToken(int member, long token) {
            List<Long> seen = new ArrayList<>();
            CompletionHandler handler = new CompletionHandler() {
                @Override
                public void onCompletion(long one, long flags, long length, long data) { seen.add(one); }

                @Override
                public void onError(CompletionError error) { throw new AssertionError(error); }
            };
            Waiting.YIELD.until(() -> {
                domain.queues.progress();
                queues.get(member).poll(handler, 1);
                return !seen.isEmpty();
            }, Pair.DEADLINE);
            assertThat(seen).containsExactly(token);
        }

        void fill() {
            for (int i = 0; i < endpoints.size(); i++) {
                for (int at = 0; at < LENGTH / 8; at++) {
                    regions.get(i).segment().setAtIndex(JAVA_LONG, at, value(i, at));
                    results.get(i).segment().setAtIndex(JAVA_LONG, at, UNTOUCHED);
                }
            }
        }

        long got(int member, long index) { return results.get(member).segment().getAtIndex(JAVA_LONG, index); }

        @Override
        public void close() {
            regions.forEach(MemoryRegion::close);
            results.forEach(MemoryRegion::close);
            endpoints.forEach(Endpoint::close);
            queues.forEach(CompletionQueue::close);
            vector.close();
            domain.close();
            fabric.close();
        }
    }

    private static long value(int member, long index) { return 1_000_003L * (member + 1) + index; }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.COLLECTIVE);
    }

    private static int[] all(int members) { return IntStream.range(0, members).toArray(); }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void everyOperationBringsTheRightElements(int members) {
        try (Stage stage = new Stage(members)) {
            List<CollectiveGroup> groups = stage.joinAll();
            assertThat(groups).extracting(CollectiveGroup::rank)
                    .containsExactlyElementsOf(IntStream.range(0, members).boxed().toList());
            stage.run((i, token) -> groups.get(i).barrier(token), all(members));
            long share = 2048 / ((members + 1) / 2);
            for (long count : new long[]{1, 3, 100, share}) {
                gather(stage, groups, count);
                for (int root = 0; root < members; root++) {
                    scatter(stage, groups, count, root);
                    broadcast(stage, groups, count * members, root);
                }
            }
            gather(stage, groups, 2048);
            reduce(stage, groups, 1);
            reduce(stage, groups, 2048);
        }
    }

    private static void gather(Stage stage, List<CollectiveGroup> groups, long count) {
        int members = groups.size();
        stage.fill();
        stage.run((i, token) -> groups.get(i).allGather(INT64, stage.regions.get(i).slice(8, 8 * count),
                stage.results.get(i).slice(16, 8 * count * members), token), all(members));
        for (int member : all(members)) {
            assertThat(stage.got(member, 1)).isEqualTo(UNTOUCHED);
            assertThat(stage.got(member, 2 + members * count)).isEqualTo(UNTOUCHED);
            for (int i = 0; i < members * count; i++) {
                assertThat(stage.got(member, 2 + i)).isEqualTo(value((int) (i / count), 1 + i % count));
            }
        }
    }

    private static void scatter(Stage stage, List<CollectiveGroup> groups, long count, int root) {
        stage.fill();
        stage.run((i, token) -> groups.get(i).scatter(INT64,
                i == root ? stage.regions.get(i).slice(0, 8 * count * groups.size()) : null,
                stage.results.get(i).slice(8, 8 * count), root, token), all(groups.size()));
        for (int member : all(groups.size())) {
            assertThat(stage.got(member, 0)).isEqualTo(UNTOUCHED);
            assertThat(stage.got(member, 1 + count)).isEqualTo(UNTOUCHED);
            for (int i = 0; i < count; i++) {
                assertThat(stage.got(member, 1 + i)).isEqualTo(value(root, member * count + i));
            }
        }
    }

    private static void broadcast(Stage stage, List<CollectiveGroup> groups, long count, int root) {
        stage.fill();
        stage.run((i, token) -> groups.get(i).broadcast(INT64, stage.regions.get(i).slice(0, 8 * count), root, token),
                all(groups.size()));
        for (int member : all(groups.size())) {
            for (int i = 0; i < count; i++) {
                assertThat(stage.regions.get(member).segment().getAtIndex(JAVA_LONG, i)).isEqualTo(value(root, i));
            }
            assertThat(stage.regions.get(member).segment().getAtIndex(JAVA_LONG, count))
                    .isEqualTo(value(member, count));
        }
    }

    private static void reduce(Stage stage, List<CollectiveGroup> groups, long count) {
        for (AtomicOperation operation : List.of(AtomicOperation.SUM, AtomicOperation.MIN, AtomicOperation.MAX,
                AtomicOperation.BXOR)) {
            if (stage.endpoints.getFirst().collectives().valid(Collective.ALLREDUCE, operation, INT64) == 0) {
                throw new AssertionError(operation + " is not valid");
            }
            stage.fill();
            stage.run((i, token) -> groups.get(i).allReduce(operation, INT64, stage.regions.get(i).slice(0, 8 * count),
                    stage.results.get(i).slice(0, 8 * count), token), all(groups.size()));
            for (int member : all(groups.size())) {
                for (int i = 0; i < count; i++) {
                    assertThat(stage.got(member, i)).isEqualTo(expected(operation, groups.size(), i));
                }
                assertThat(stage.got(member, count)).isEqualTo(UNTOUCHED);
            }
        }
    }

    private static long expected(AtomicOperation operation, int members, int index) {
        return IntStream.range(0, members).mapToLong(member -> value(member, index))
                .reduce((a, b) -> switch (operation) {
                    case SUM -> a + b;
                    case MIN -> Math.min(a, b);
                    case MAX -> Math.max(a, b);
                    default -> a ^ b;
                }).getAsLong();
    }

    /** The root is a rank of the group, whatever its number in the vector. */
    @Test
    void groupsOfSomeMembersInAnotherOrderWorkBesideAllOfThem() {
        try (Stage stage = new Stage(4)) {
            List<CollectiveGroup> everybody = stage.joinAll();
            List<CollectiveGroup> some = stage.join(3, 1);
            assertThat(some.getFirst().rank()).isZero();
            stage.fill();
            stage.run((i, token) -> some.get(i == 3 ? 0 : 1).broadcast(INT64, stage.regions.get(i).slice(0, 80), 0,
                    token), 3, 1);
            assertThat(stage.regions.get(1).segment().getAtIndex(JAVA_LONG, 9)).isEqualTo(value(3, 9));
            stage.run((i, token) -> everybody.get(i).barrier(token), all(4));
        }
    }

    @Test
    void whatWouldHangCrashOrOverrunIsRefusedWithItsBound() {
        try (Stage stage = new Stage(2)) {
            CollectiveGroup group = stage.joinAll().getFirst();
            MemoryRegion region = stage.regions.getFirst();
            MemoryRegion result = stage.results.getFirst();
            assertThatThrownBy(() -> group.tryAllGather(INT64, region, 0, 2049, result, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 2048");
            assertThatThrownBy(() -> group.tryScatter(INT64, region, 0, 2049, result, 0, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 2048");
            assertThatThrownBy(() -> group.tryBroadcast(INT64, region, 0, 4098, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 4096");
            assertThatThrownBy(() -> group.tryBroadcast(INT64, region, 0, 3, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("multiple of 2");
            assertThatThrownBy(() -> group.tryAllReduce(AtomicOperation.SUM, INT64, region, 0, 2049, result, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 2048");
            assertThatThrownBy(() -> group.tryAllReduce(AtomicOperation.ATOMIC_READ, INT64, region, 0, 1, result, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("ATOMIC_READ");
            assertThatThrownBy(
                    () -> group.tryAllReduce(AtomicOperation.BOR, Datatype.DOUBLE, region, 0, 1, result, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("DOUBLE");
            assertThatThrownBy(() -> group.tryBroadcast(INT64, region, 0, 2, 2, 1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("from 0 to 1, not 2");
            assertThatThrownBy(() -> group.tryAllGather(INT64, region, 0, 2, result, LENGTH - 24, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            Endpoint endpoint = stage.endpoints.getFirst();
            assertThatThrownBy(() -> endpoint.collectives().join(List.of(stage.peers.get(1))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not among the members");
            assertThatThrownBy(() -> endpoint.collectives().join(List.of(stage.peers.get(0), stage.peers.get(0))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("already");
            assertThat(Stream.of(Collective.ALLTOALL, Collective.REDUCE_SCATTER, Collective.REDUCE, Collective.GATHER)
                    .mapToLong(kind -> endpoint.collectives().valid(kind, AtomicOperation.SUM, INT64)).sum()).isZero();
        }
    }

    /**
     * It needs no device to be refused: the bytes are the system's, and only the region says that they are a device's.
     */
    @Test
    void memoryOfADeviceIsRefusedByEachOperation() {
        try (Stage stage = new Stage(2)) {
            CollectiveGroup group = stage.joinAll().getFirst();
            MemoryRegion region = stage.regions.getFirst();
            MemoryRegion device = new MemoryRegion(stage.domain, stage.domain.handle(),
                    MemoryRegionAttributes.ofDevice(DeviceInterface.ROCR, 0, region.segment().address(), LENGTH)
                            .access(Access.SEND, Access.RECEIVE),
                    null, List.of(region.segment()), List.of(MemoryKind.DEVICE), List.of(Optional.empty()), null);
            List<ThrowingCallable> calls = List.of(
                    () -> group.tryAllReduce(AtomicOperation.SUM, INT64, device, 0, 1, region, 8, 1),
                    () -> group.tryAllReduce(AtomicOperation.SUM, INT64, region, 0, 1, device, 8, 1),
                    () -> group.tryBroadcast(INT64, device, 0, 2, 0, 1),
                    () -> group.tryAllGather(INT64, device, 0, 1, region, 8, 1),
                    () -> group.tryAllGather(INT64, region, 0, 1, device, 8, 1),
                    () -> group.tryScatter(INT64, device, 0, 1, region, 64, 0, 1),
                    () -> group.tryScatter(INT64, region, 0, 1, device, 64, 0, 1));
            assertThat(calls).allSatisfy(
                    call -> assertThatThrownBy(call).isInstanceOf(UnsupportedOperationException.class).hasMessage(
                            "a collective operation needs system memory:" + " copy the device's bytes there first"));
            assertThat(stage.queues.getFirst().operationsInFlight()).isZero();
        }
    }

    @Test
    void aGroupWhoseJoinHasFailedSaysSoEachTime() {
        try (Stage stage = new Stage(2)) {
            CollectiveGroup group = stage.endpoints.getFirst().collectives().join(stage.peers);
            group.failure = -Errno.ECONNREFUSED; // the provider does not fail at will

            for (int call = 0; call < 2; call++) {
                assertThatThrownBy(() -> group.awaitJoined(Pair.DEADLINE)).isInstanceOf(FabricException.class)
                        .hasMessageContaining("fi_join_collective");
            }
        }
    }

    @Test
    void aJoinThatOthersDoNotJoinTimesOutAndBlocksTheNext() {
        try (Stage stage = new Stage(2)) {
            Collectives collectives = stage.endpoints.getFirst().collectives();
            CollectiveGroup group = collectives.join(stage.peers);
            assertThatThrownBy(() -> group.awaitJoined(java.time.Duration.ofMillis(50)))
                    .isInstanceOf(FabricTimeoutException.class);
            assertThatThrownBy(() -> group.tryBarrier(1)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("awaitJoined");
            assertThatThrownBy(() -> collectives.join(stage.peers)).isInstanceOf(IllegalStateException.class);
            CollectiveGroup far = stage.endpoints.get(1).collectives().join(stage.peers);
            far.awaitJoined(Pair.DEADLINE);
            group.awaitJoined(Pair.DEADLINE).tryBarrier(7); // canceled by the close
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aProviderWithoutThemAndAnEndpointThatWasNotAskedSaySo(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatThrownBy(() -> pair.endpoint.collectives()).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("COLLECTIVE");
        }
        if (!provider.equals(PROVIDER)) {
            assertThatThrownBy(() -> {
                FabricHints hints = hints(provider);
                String found = TestProviders.info(hints).provider();
                if (!found.equals(hints.provider().orElseThrow())) { // libfabric finds one that is layered on it
                    throw new UnsupportedOperationException("only " + found + " has them");
                }
            }).isInstanceOfAny(UnsupportedOperationException.class, NoProviderException.class);
        }
    }

    @Test
    void tagsAndCollectivesOfOneEndpointExcludeEachOther() {
        FabricHints hints = TestProviders.hints(PROVIDER).capabilities(Capability.TAGGED, Capability.COLLECTIVE);
        try (Pair pair = new Pair(hints)) {
            pair.endpoint.tagged();
            assertThatThrownBy(() -> pair.endpoint.collectives()).isInstanceOf(UnsupportedOperationException.class);
            pair.farEndpoint.collectives();
            assertThatThrownBy(() -> pair.farEndpoint.tagged()).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    /** In a JVM of its own, which the provider's send to a member that its vector does not have would end. */
    @Test
    void aMemberMayBeRemovedFromTheVector() {
        Forked.Result result = Forked.run(RemovesAMember.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("refuses Peer");
    }

    static final class RemovesAMember {
        private static final int POLLS = 1000;

        private RemovesAMember() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(
                    TestProviders.hints(PROVIDER).capabilities(Capability.MSG, Capability.COLLECTIVE))) {
                List<Peer> members = List.of(pair.vector.insert(pair.endpoint.address()), pair.far);
                List<CollectiveGroup> groups = Stream.of(pair.endpoint, pair.farEndpoint)
                        .map(endpoint -> endpoint.collectives().join(members)).toList();
                groups.forEach(group -> group.awaitJoined(Pair.DEADLINE));
                pair.vector.remove(pair.far);
                if (!groups.getFirst().tryBarrier(1)) { throw new AssertionError("there is no room"); }
                for (int poll = 0; poll < POLLS; poll++) {
                    pair.domain.queues.progress();
                }
                try {
                    pair.endpoint.collectives().join(members);
                } catch (IllegalStateException e) {
                    System.out.println("refuses " + pair.far);
                }
            }
        }
    }
}
