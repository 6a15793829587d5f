package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What is particular to verbs. Runs where the tests are given a device, see {@code scripts/test --verbs}. */
@Timeout(600)
class VerbsTest {
    private static final String PROVIDER = "verbs;ofi_rxm";
    private static final String CONNECTED = "MSG verbs";
    private static final int OUTSTANDING = 16;
    private static final int EIO = 5;
    private static final int ECANCELED = 125;
    private static final long MUCH_MEMORY = 1 << 28;
    private static final String NO_DATA = "the device carries no completion data";

    @BeforeEach
    void aDeviceIsThere() {
        assumeTrue(TestProviders.rma().anyMatch(PROVIDER::equals),
                "no RDMA device was named with -Dofi4j.test.providers; scripts/test --verbs makes one");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void theDeviceChoosesKeysOfFourBytesForVirtualAddresses(String provider) {
        try (Pair pair = new Pair(provider); MemoryRegion region = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            DomainAttributes attributes = pair.domain.info().domain();
            assertThat(attributes.memoryRegionMode()).contains(MemoryRegionMode.VIRT_ADDR, MemoryRegionMode.PROV_KEY,
                    MemoryRegionMode.ALLOCATED, MemoryRegionMode.LOCAL);
            assertThat(region.remote().key() >>> Integer.SIZE).isZero();
            assertThat(region.remote().base()).isEqualTo(region.segment().address());
        }
    }

    @Test
    void nothingIsCachedWhenTheSameMemoryIsRegisteredAgain() {
        try (Pair pair = new Pair(PROVIDER);
                MemoryRegion one = pair.domain.allocate(4096, Access.REMOTE_WRITE);
                MemoryRegion again = pair.domain.register(one.segment(), Access.REMOTE_WRITE)) {
            assertThat(again.remote().key()).isNotEqualTo(one.remote().key());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anOperationBeyondWhatTheDeviceTakesIsRefusedByName(String provider) {
        try (Pair pair = new Pair(provider)) {
            long limit = pair.rma().maximumMessageSize();
            assumeTrue(limit < MUCH_MEMORY, "the device takes operations of more bytes than a test may register");
            try (MemoryRegion source = pair.domain.allocate(limit + 1, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(limit + 1, Access.REMOTE_WRITE)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.rma().tryWrite(source, 0, limit + 1, pair.far, target.remote(), 0, 1))
                        .withMessageContaining("verbs").withMessageContaining("at most " + limit);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aLongerInjectThanTheDeviceTakesIsRefusedByName(String provider) {
        try (Pair pair = new Pair(provider)) {
            long limit = pair.rma().injectSize();
            try (MemoryRegion source = pair.domain.allocate(limit + 1, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(limit + 1, Access.REMOTE_WRITE)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.rma().tryInjectWrite(source, 0, limit + 1, pair.far, target.remote(), 0))
                        .withMessageContaining("an inject").withMessageContaining("at most " + limit);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void injectsHaveTheSizesOfSoftRoce(String provider) {
        try (Pair pair = new Pair(provider)) {
            assumeTrue(isSoftRoce(pair), "another device has other sizes");
            assertThat(pair.rma().injectSize()).isEqualTo(provider.equals(CONNECTED) ? 256 : 192);
            assertThat(pair.rma().maximumMessageSize()).isIn(8L << 20, 2L << 30); // of Linux 6.1 and of 6.12
        }
    }

    private static boolean isSoftRoce(Pair pair) { return pair.domain.info().domain().name().startsWith("rxe"); }

    /** The provider's thread would end the process when a peer goes away, see {@link Verbs#requireManualProgress}. */
    @Test
    void automaticProgressIsRefusedByName() {
        FabricInfo automatic = TestProviders.info(TestProviders.hints(PROVIDER).dataProgress(ProgressModel.AUTO));
        try (Fabric fabric = Libfabric.load().openFabric(automatic)) {
            assertThatThrownBy(fabric::openDomain).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("startProgress");
        }
    }

    /** Claims of long messages end the process there. */
    @Test
    void claimsAreRefusedByNameUpTo1_22() {
        assumeTrue(Libfabric.load().version().major() < 2, "libfabric 2 takes the whole message");
        try (Pair pair = new Pair(TestProviders.hints(PROVIDER).capabilities(Capability.TAGGED))) {
            assertThatThrownBy(() -> pair.endpoint.tagged().peek(PeekAction.CLAIM, 7, 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("ofi4j refuses claims of messages over verbs;ofi_rxm");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void moreRemoteSegmentsThanTheDeviceTakesAreRefused(String provider) {
        try (Pair pair = new Pair(provider); MemoryRegion there = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            PreparedRma message = pair.rma().prepare().peer(pair.far);
            assertThat(message.remoteLimit()).isEqualTo(1);
            message.remote(there.remote(), 0, 8);
            assertThatIllegalArgumentException().isThrownBy(() -> message.remote(there.remote(), 8, 8))
                    .withMessageContaining("at most");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void completionDataOfMoreThanFourBytesIsRefused(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            assumeTrue(carriesData(pair), NO_DATA);
            assertThat(pair.domain.info().domain().completionDataSize()).isEqualTo(4);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.rma().tryWriteData(source, 0, 8, 1L << 32, pair.far, target.remote(), 0, 1))
                    .withMessageContaining("too few");
        }
    }

    private static boolean carriesData(Pair pair) { return pair.domain.info().domain().completionDataSize() > 0; }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void completionDataIsRefusedByNameWhereTheDeviceCarriesNone(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            assumeTrue(!carriesData(pair), "the device carries completion data");
            PreparedRma message = pair.rma().prepare();
            assertThatThrownBy(() -> pair.rma().tryWriteData(source, 0, 8, 0, pair.far, target.remote(), 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("completion data is not offered");
            assertThatThrownBy(() -> pair.rma().tryInjectWriteData(source, 0, 1, 0, pair.far, target.remote(), 0))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> message.data(0)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> message.flags(OperationFlag.REMOTE_CQ_DATA))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void severalLocalSegmentsAreWrittenAndAReadIntoThemFillsAllOrIsRefusedByName(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion one = pair.domain.allocate(8, Access.READ, Access.WRITE);
                MemoryRegion two = pair.domain.allocate(8, Access.READ, Access.WRITE);
                MemoryRegion there = pair.domain.allocate(16, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            one.segment().set(JAVA_LONG, 0, 7);
            two.segment().set(JAVA_LONG, 0, 42);
            PreparedRma message = pair.rma().prepare().peer(pair.far).local(one, 0, 8).local(two, 0, 8)
                    .remote(there.remote(), 0, 16);
            message.write(1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return there.segment().get(JAVA_LONG, 0) == 7 && there.segment().get(JAVA_LONG, 8) == 42;
            }, Pair.DEADLINE);
            one.segment().fill((byte) 0);
            two.segment().fill((byte) 0);
            if (isSoftIwarp(pair)) {
                assertThatThrownBy(() -> message.tryRead(2)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("an operation of its own");
                assertThatThrownBy(() -> message.flags(OperationFlag.COMPLETION).tryRead(2))
                        .isInstanceOf(UnsupportedOperationException.class);
            } else {
                message.read(2);
                pair.awaitToken(2);
                assertThat(one.segment().get(JAVA_LONG, 0)).isEqualTo(7);
                assertThat(two.segment().get(JAVA_LONG, 0)).isEqualTo(42);
            }
        }
    }

    /** A wrong key breaks the connection: what was posted behind it comes back, too, and another endpoint works. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aFailureReachesEveryOutstandingToken(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion here = pair.domain.allocate(8, Access.READ, Access.WRITE);
                MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            RemoteRegion right = there.remote();
            RemoteRegion wrong = new RemoteRegion(right.base(), 8, right.key() ^ 0x5500, right.accessBits());
            pair.rma().read(here.slice(0, 8), pair.far, right, OUTSTANDING); // with which ofi_rxm connects
            pair.awaitToken(OUTSTANDING);
            pair.completed.clear();
            List<Long> posted = new ArrayList<>();
            for (long token = 0; token < OUTSTANDING; token++) {
                if (pair.rma().tryRead(here, 0, 8, pair.far, token == 1 ? wrong : right, 0, token)) {
                    posted.add(token);
                }
            }
            assertThat(posted).contains(1L);
            Waiting.YIELD.until(() -> back(pair).size() >= posted.size() || hasEndedOnSoftIwarp(pair), Pair.DEADLINE);
            if (hasEndedOnSoftIwarp(pair)) {
                pair.endpoint.close();
                Waiting.YIELD.until(() -> back(pair).size() >= posted.size(), Pair.DEADLINE);
            }
            assertThat(back(pair)).containsExactlyInAnyOrderElementsOf(posted);
            assertThat(pair.queue.operationsInFlight()).isZero();
            if (isSoftRoce(pair)) { requireCause(pair); }
        }
        anotherConnectionWorks(provider);
    }

    /** Polls all there is; the tokens that have come back. */
    private static List<Long> back(Pair pair) {
        pair.poll();
        if (pair.events != null) { pair.events.progress(); }
        List<Long> back = new ArrayList<>(pair.completed);
        pair.errors.forEach(error -> back.add(error.token()));
        back.removeIf(token -> token == CompletionHandler.NO_TOKEN);
        return back;
    }

    /** Whether the device is that of the kernel's module siw, whose reads fill one segment only. */
    private static boolean isSoftIwarp(Pair pair) {
        return pair.endpoint.info().device().flatMap(NetworkDevice::device)
                .filter(device -> device.vendor().equals("0x626d74")).isPresent();
    }

    /**
     * Whether the kernel's module siw has ended the connection: what is posted to one that it has ended, before anybody
     * knows, it never looks at again, and it comes back when the endpoint is closed.
     */
    private static boolean hasEndedOnSoftIwarp(Pair pair) {
        return pair.events != null && isSoftIwarp(pair)
                && pair.endpoint.connection().state() == Connection.State.SHUT_DOWN;
    }

    /** The first error is that of the wrong key, and says so; the others that the connection has ended with it. */
    private static void requireCause(Pair pair) {
        CompletionError first = pair.errors.getFirst();
        assertThat(first.token()).isEqualTo(1);
        assertThat(first.errno()).isEqualTo(EIO);
        assertThat(first.providerText()).isEqualTo("remote access error");
        assertThat(first.toException()).hasMessageContainingAll("token 1", "verbs", "remote access error");
        assertThat(pair.errors).as("those behind it").hasSizeGreaterThan(1).filteredOn(error -> error != first)
                .allMatch(error -> error.errno() == ECANCELED)
                .allMatch(error -> error.providerText().equals("Work Request Flushed Error"));
    }

    /**
     * siw gives back what was posted before it ends a connection, and its kernel looks at nothing that comes behind
     * that.
     */
    @Test
    void whatIsPostedBehindTheEndOfAConnectionComesBackWithItsEndpointOnSoftIwarp() {
        assumeTrue(TestProviders.transfers().anyMatch(CONNECTED::equals),
                "no connected endpoints of verbs were asked for");
        try (Pair pair = new Pair(CONNECTED);
                MemoryRegion here = pair.domain.allocate(8, Access.READ);
                MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_READ)) {
            assumeTrue(isSoftIwarp(pair), "only siw of Linux does that");
            RemoteRegion right = there.remote();
            pair.rma().read(here.slice(0, 8), pair.far,
                    new RemoteRegion(right.base(), 8, right.key() ^ 0x5500, right.accessBits()), 1);
            pair.awaitCompletions(1);
            pair.rma().read(here.slice(0, 8), pair.far, right, 2);
            Waiting.YIELD.until(() -> {
                back(pair);
                return pair.endpoint.connection().state() == Connection.State.SHUT_DOWN;
            }, Pair.DEADLINE);
            assertThat(Waiting.YIELD.tryUntil(() -> back(pair).contains(2L), Patience.seconds(1))).isFalse();
            assertThat(pair.queue.operationsInFlight()).isEqualTo(1);

            pair.endpoint.close();

            Waiting.YIELD.until(() -> back(pair).contains(2L), Pair.DEADLINE);
            assertThat(pair.errors.getLast().errno()).isEqualTo(ECANCELED);
        }
    }

    private static void anotherConnectionWorks(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion here = pair.domain.allocate(8, Access.READ);
                MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_READ)) {
            there.segment().set(JAVA_LONG, 0, 77);
            pair.rma().read(here.slice(0, 8), pair.far, there.remote(), 1);
            pair.awaitToken(1);
            assertThat(here.segment().get(JAVA_LONG, 0)).isEqualTo(77);
        }
    }

    @Test
    void aConnectedEndpointIsOpenedForOneDestination() {
        assumeTrue(TestProviders.connected().anyMatch("verbs"::equals),
                "no connected endpoints of verbs were asked for");
        try (Listener listener = new Listener("verbs"); Listener another = new Listener("verbs")) {
            assertThatIllegalArgumentException().isThrownBy(listener.domain::openEndpoint)
                    .withMessageContaining("withDestination");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> listener.client().connection().connect(another.passive.address()))
                    .withMessageContaining("another destination");
        }
    }

    @Test
    void connectedEndpointsHaveNoCounters() {
        assumeTrue(TestProviders.connected().anyMatch("verbs"::equals),
                "no connected endpoints of verbs were asked for");
        try (Listener listener = new Listener("verbs")) {
            assertThatThrownBy(listener.domain::openCounter).isInstanceOf(FabricException.class)
                    .hasMessageContaining("provider verbs").hasMessageContaining("does not offer it");
        }
    }

    @Test
    void aQueueTakesNoMoreEndpointsThanItHasRoomForTheirReceives() {
        assumeTrue(TestProviders.connected().anyMatch("verbs"::equals),
                "no connected endpoints of verbs were asked for");
        try (Listener listener = new Listener("verbs");
                CompletionQueue small = listener.domain.openCompletionQueue(64);
                Endpoint one = listener.domain.openEndpoint(listener.active()).bind(listener.farEvents).bind(small);
                Endpoint two = listener.domain.openEndpoint(listener.active()).bind(listener.farEvents).bind(small)) {
            one.enable();
            assertThatIllegalStateException().isThrownBy(two::enable).withMessageContaining("openCompletionQueue");
        }
    }

    /** More than there are receives. */
    @Test
    void manyWritesWithDataTellTheTarget() {
        assumeTrue(TestProviders.connected().anyMatch("verbs"::equals),
                "no connected endpoints of verbs were asked for");
        int count = 1000;
        try (Pair pair = new Pair("MSG verbs");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            assumeTrue(carriesData(pair), NO_DATA);
            List<Long> told = new ArrayList<>();
            List<Long> expected = new ArrayList<>();
            CompletionHandler listening = (token, flags, length, data) -> told.add(data);
            for (long data = 0; data < count; data++) {
                expected.add(data);
                long next = data;
                Waiting.YIELD.until(() -> {
                    if (pair.rma().tryWriteData(source, 0, 8, next, pair.far, target.remote(), 0, next)) {
                        return true;
                    }
                    pair.pollNear();
                    pair.farQueue.poll(listening, 64);
                    return false;
                }, Pair.DEADLINE);
            }
            Waiting.YIELD.until(() -> {
                pair.pollNear();
                pair.farQueue.poll(listening, 64);
                return told.size() >= count && pair.completed.size() >= count;
            }, Pair.DEADLINE);
            assertThat(told).containsExactlyElementsOf(expected);
            assertThat(pair.completed).containsExactlyElementsOf(expected);
        }
    }
}
