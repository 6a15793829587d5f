package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.FENCED;
import static io.ofi4j.verbs.WorkFlags.INLINE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static io.ofi4j.verbs.WorkFlags.SOLICITED;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.support.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The path of its own over verbs: every operation between two devices, with the bytes compared. */
@Timeout(600)
class VerbsPathTest {
    static final QueuePairAddress SOMEWHERE = new QueuePairAddress(17, 123456, 0, 1024,
            "00000000000000000000ffffc6120001");

    private static VerbsLink link;
    private static VerbsLink.VerbsSide near;
    private static VerbsLink.VerbsSide far;
    private static RemoteMemory there;

    @BeforeAll
    static void connect() {
        link = new VerbsLink();
        near = link.near;
        far = link.far;
        there = RemoteMemory
                .decode(java.util.Arrays.copyOf(near.connection.privateData(), RemoteMemory.ENCODED_LENGTH));
    }

    @AfterAll
    static void close() throws IOException {
        if (link != null) { link.close(); }
        KernelLog.requireNoFailure();
    }

    private static byte[] fill(MemorySegment memory, long offset, int length) {
        byte[] bytes = new byte[length];
        new Random(length + offset).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, offset, length);
        return bytes;
    }

    private static byte[] bytes(MemorySegment memory, long offset, int length) {
        return memory.asSlice(offset, length).toArray(JAVA_BYTE);
    }

    /** Whether the device is of iWARP, which has no such thing, and said so. */
    private static boolean isRefusedByIwarp(ThrowingCallable call) {
        if (!near.context.isIwarp()) { return false; }
        assertThatThrownBy(call).isInstanceOf(UnsupportedOperationException.class)
                .hasMessageMatching(".*(not offered|not offer) .*");
        return true;
    }

    @Test
    void aWriteArrivesWithEveryByte() {
        byte[] sent = fill(near.region.segment(), 0, 5000);
        assertThat(near.pair.tryWrite(near.region, 0, 5000, there, 100, SIGNALED, 7)).isTrue();
        assertThat(near.next()).extracting(Reported.Completion::token, Reported.Completion::kind).containsExactly(7L,
                WorkKind.WRITE);
        assertThat(bytes(far.region.segment(), 100, 5000)).isEqualTo(sent);
    }

    @Test
    void aReadBringsEveryByte() {
        byte[] expected = fill(far.region.segment(), 64, 4097);
        assertThat(near.pair.tryRead(near.region, 0, 4097, there, 64, SIGNALED, 8)).isTrue();
        assertThat(near.next().kind()).isEqualTo(WorkKind.READ);
        assertThat(bytes(near.region.segment(), 0, 4097)).isEqualTo(expected);
    }

    @Test
    void aMessageWithAnImmediateArrivesInItsReceive() {
        if (isRefusedByIwarp(() -> near.pair.trySendImmediate(near.region, 10, 99, 1, SIGNALED, 2))) { return; }
        assertThat(far.pair.tryReceive(far.region, 0, 100, 1)).isTrue();
        byte[] sent = fill(near.region.segment(), 10, 99);
        assertThat(near.pair.trySendImmediate(near.region, 10, 99, 0x12345678, SIGNALED | SOLICITED, 2)).isTrue();
        assertThat(far.next())
                .isEqualTo(new Reported.Completion(1, WorkKind.RECEIVE, 99, WorkHandler.IMMEDIATE, 0x12345678));
        assertThat(near.next().kind()).isEqualTo(WorkKind.SEND);
        assertThat(bytes(far.region.segment(), 0, 99)).isEqualTo(sent);
    }

    @Test
    void aMessageOfNoBytesArrives() {
        assertThat(far.pair.tryReceive(far.region, 0, 0, 3)).isTrue();
        assertThat(near.pair.trySend(near.region, 0, 0, SIGNALED, 4)).isTrue();
        assertThat(far.next()).isEqualTo(new Reported.Completion(3, WorkKind.RECEIVE, 0, 0, 0));
        assertThat(near.next().token()).isEqualTo(4);
    }

    @Test
    void aWriteWithAnImmediateUsesAReceiveAndIsThere() {
        if (isRefusedByIwarp(() -> near.pair.tryWriteImmediate(near.region, 0, 8, there, 0, -2, SIGNALED, 6))) {
            return;
        }
        assertThat(far.pair.tryReceive(far.region, 0, 0, 5)).isTrue();
        byte[] sent = fill(near.region.segment(), 0, 2000);
        assertThat(near.pair.tryWriteImmediate(near.region, 0, 2000, there, 4000, -2, SIGNALED, 6)).isTrue();
        Reported.Completion received = far.next();
        assertThat(received.kind()).isEqualTo(WorkKind.RECEIVE_OF_WRITE);
        assertThat(received.word()).isEqualTo(-2);
        assertThat(received.length()).isEqualTo(2000);
        assertThat(bytes(far.region.segment(), 4000, 2000)).isEqualTo(sent);
        assertThat(near.next().kind()).isEqualTo(WorkKind.WRITE);
    }

    @Test
    void inlineMemoryMayChangeAtOnce() {
        byte[] sent = fill(near.region.segment(), 0, 64);
        assertThat(near.pair.tryWrite(near.region, 0, 64, there, 512, SIGNALED | INLINE, 9)).isTrue();
        near.region.segment().asSlice(0, 64).fill((byte) 0);
        near.next();
        assertThat(bytes(far.region.segment(), 512, 64)).isEqualTo(sent);
        assertThatThrownBy(() -> near.pair.tryWrite(near.region, 0, 65, there, 512, SIGNALED | INLINE, 9))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("at most 64");
    }

    @Test
    void fetchAddAndCompareSwapAreFencedAndGiveWhatWasThere() {
        if (isRefusedByIwarp(() -> near.pair.tryFetchAdd(near.region, 0, there, 1024, 2, SIGNALED, 10))) { return; }
        far.region.segment().set(JAVA_LONG, 1024, 40);
        assertThat(near.pair.tryFetchAdd(near.region, 0, there, 1024, 2, SIGNALED, 10)).isTrue();
        assertThat(near.pair.tryCompareSwap(near.region, 8, there, 1024, 42, -1, SIGNALED | FENCED, 11)).isTrue();
        assertThat(near.next().kind()).isEqualTo(WorkKind.FETCH_ADD);
        assertThat(near.next().kind()).isEqualTo(WorkKind.COMPARE_SWAP);
        assertThat(near.region.segment().get(JAVA_LONG, 0)).isEqualTo(40);
        assertThat(near.region.segment().get(JAVA_LONG, 8)).isEqualTo(42);
        assertThat(far.region.segment().get(JAVA_LONG, 1024)).isEqualTo(-1);
    }

    @Test
    void unreportedWritesMakeRoomByThemselvesAndStayInOrder() {
        for (int i = 0; i < 300; i++) {
            near.region.segment().set(JAVA_LONG, 0, i);
            int value = i;
            Waiting.YIELD.until(() -> near.pair.tryWrite(near.region, 0, 8, there, 2048, INLINE, value)
                    || near.reported.polled(near.queue) < 0, VerbsLink.DEADLINE);
        }
        assertThat(near.pair.tryWrite(near.region, 0, 8, there, 2048, SIGNALED | INLINE, 300)).isTrue();
        assertThat(near.next().token()).isEqualTo(300);
        assertThat(far.region.segment().get(JAVA_LONG, 2048)).isEqualTo(299);
    }

    @Test
    void aFullQueueTakesNoMoreUntilItIsPolled() {
        int posted = 0;
        while (near.pair.tryWrite(near.region, 0, 8, there, 0, SIGNALED, posted)) {
            posted++;
        }
        assertThat(posted).isEqualTo(64);
        for (int i = 0; i < posted; i++) {
            assertThat(near.next().token()).isEqualTo(i);
        }
        assertThat(near.pair.tryWrite(near.region, 0, 8, there, 0, SIGNALED, 1)).isTrue();
        near.next();
    }

    @Test
    void aHandlerThatThrowsLeavesTheRest() {
        near.pair.tryWrite(near.region, 0, 8, there, 0, SIGNALED, 1);
        near.pair.tryWrite(near.region, 0, 8, there, 0, SIGNALED, 2);
        List<Long> seen = new ArrayList<>();
        WorkHandler throwing = (token, kind, length, flags, word) -> {
            seen.add(token);
            throw new IllegalArgumentException("mine");
        };
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> Waiting.YIELD.until(() -> near.queue.poll(throwing, 16) > 0, VerbsLink.DEADLINE))
                    .hasMessage("mine");
        }
        assertThat(seen).containsExactly(1L, 2L);
    }

    @Test
    void aChannelWakesWhoWaits() {
        near.queue.requestNotification(false);
        assertThat(near.channel.await(Duration.ofMillis(1))).isEmpty();
        near.pair.tryWrite(near.region, 0, 8, there, 0, SIGNALED, 12);
        assertThat(near.channel.await(VerbsLink.DEADLINE)).contains(near.queue);
        assertThat(near.next().token()).isEqualTo(12);
    }

    @Test
    void aZeroBasedRegionIsReachedFromZero() {
        if (isRefusedByIwarp(() -> far.domain.allocate(4096, VerbsAccess.ZERO_BASED))) { return; }
        try (VerbsMemoryRegion zero = far.domain.allocate(4096, VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE,
                VerbsAccess.REMOTE_READ, VerbsAccess.ZERO_BASED)) {
            RemoteMemory remote = RemoteMemory.decode(zero.remote().encode());
            assertThat(remote.address()).isZero();
            byte[] sent = fill(near.region.segment(), 0, 1000);
            near.pair.tryWrite(near.region, 0, 1000, remote, 3096, SIGNALED, 13);
            near.next();
            assertThat(bytes(zero.segment(), 3096, 1000)).isEqualTo(sent);
            near.pair.tryRead(near.region, 2000, 1000, remote, 3096, SIGNALED, 14);
            near.next();
            assertThat(bytes(near.region.segment(), 2000, 1000)).isEqualTo(sent);
        }
    }

    @Test
    void theMemoryOfALibfabricRegionCanBeRegisteredToo() {
        io.ofi4j.Libfabric libfabric = io.ofi4j.Libfabric.load();
        try (io.ofi4j.Fabric fabric = libfabric
                .openFabric(libfabric.info(io.ofi4j.info.FabricHints.rma().provider("shm")).getFirst());
                io.ofi4j.Domain domain = fabric.openDomain();
                io.ofi4j.MemoryRegion shared = domain.allocate(4096, io.ofi4j.Access.WRITE);
                VerbsMemoryRegion region = near.domain.register(shared.segment(), VerbsAccess.LOCAL_WRITE)) {
            byte[] sent = fill(shared.segment(), 0, 300);
            near.pair.tryWrite(region, 0, 300, there, 0, SIGNALED, 15);
            near.next();
            assertThat(bytes(far.region.segment(), 0, 300)).isEqualTo(sent);
        }
    }

    @Test
    void whatTheDeviceLacksIsRefusedByName() {
        DeviceAttributes attributes = near.context.attributes();
        if (!attributes.capabilities().contains(DeviceCapability.XRC)) {
            assertThatThrownBy(near.context::openXrcDomain).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(near.context.name()).hasMessageContaining("XRC");
        }
        if (attributes.onDemand().isEmpty()) {
            assertThatThrownBy(() -> near.domain.allocate(64, VerbsAccess.ON_DEMAND))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("on-demand");
        }
        if (near.context.name().startsWith("rxe")) {
            assertThatThrownBy(
                    () -> near.domain.openQueuePair(QueuePairAttributes.of(near.queue).sizes(8, 8).blockLoopback(true)))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("ibv_create_qp_ex");
        }
    }

    @Test
    void theDeviceSaysWhatItIs() {
        assertThat(Verbs.load().devices()).extracting(Device::name).contains(near.context.name());
        PortAttributes port = near.context.port(near.connection.port());
        assertThat(port.state()).isEqualTo(PortAttributes.State.ACTIVE);
        assertThat(near.context.isIwarp()).isEqualTo(
                port.gids().stream().noneMatch(gid -> VerbsLink.addresses().contains(gid.address().getHostAddress())));
        assertThat(near.context.attributes().maximumQueuePairs()).isPositive();
        assertThat(near.connection.privateData()).isNotEmpty();
        assertThat(far.connection.privateData()).startsWith(1, 2, 3);
    }

    @Test
    void queuePairsAreConnectedByHandToo() {
        if (isRefusedByIwarp(() -> near.domain.openQueuePair(QueuePairAttributes.of(near.queue).sizes(8, 8)))) {
            return;
        }
        String[] names = {near.context.name(), far.context.name()};
        try (DeviceContext one = Verbs.load().open(names[0]);
                DeviceContext other = Verbs.load().open(names[1]);
                ProtectionDomain domain = one.openProtectionDomain();
                ProtectionDomain otherDomain = other.openProtectionDomain();
                VerbsCompletionQueue queue = one.openCompletionQueue(32);
                VerbsCompletionQueue otherQueue = other.openCompletionQueue(32);
                VerbsMemoryRegion source = domain.allocate(64);
                VerbsMemoryRegion target = otherDomain.allocate(64, VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE);
                QueuePair pair = domain.openQueuePair(QueuePairAttributes.of(queue).sizes(8, 8));
                QueuePair otherPair = otherDomain.openQueuePair(QueuePairAttributes.of(otherQueue).sizes(8, 8))) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.tryWrite(source, 0, 64, target.remote(), 0, SIGNALED, 1))
                    .withMessageContaining("not connected");
            pair.connect(QueuePairAddress.decode(otherPair.address().encode()));
            otherPair.connect(pair.address());
            byte[] sent = fill(source.segment(), 0, 64);
            assertThat(pair.tryWrite(source, 0, 64, target.remote(), 0, SIGNALED, 1)).isTrue();
            assertThat(new Reported().next(queue).kind()).isEqualTo(WorkKind.WRITE);
            assertThat(bytes(target.segment(), 0, 64)).isEqualTo(sent);
        }
    }

    @Test
    void aWrongKeyIsARemoteAccessErrorAndEverythingBehindIsFlushed() {
        try (VerbsLink other = new VerbsLink(8)) {
            RemoteMemory forged = new RemoteMemory(other.far.region.base, 64,
                    other.far.region.nativeRegion.remoteKey() ^ 0x5500, VerbsAccess.REMOTE, false);
            VerbsLink.VerbsSide side = other.near;
            assertThat(side.pair.tryWrite(side.region, 0, 8, forged, 0, SIGNALED, 1)).isTrue();
            if (side.context.isIwarp()) { // a write has completed when it was sent; the peer ends the connection
                assertThat(side.connection.awaitDisconnected(VerbsLink.DEADLINE)).isTrue();
                return;
            }
            WorkError error = side.nextError();
            assertThat(error.status()).isEqualTo(WorkStatus.REMOTE_ACCESS);
            assertThat(error.token()).isEqualTo(1);
            assertThat(side.pair.isConnected()).isFalse();
            side.pair.tryWrite(side.region, 0, 8, forged, 0, SIGNALED, 2);
            assertThat(side.nextError().status()).isEqualTo(WorkStatus.FLUSHED);
            assertThat(error.toException()).isInstanceOf(FabricException.class).hasMessageContaining("REMOTE_ACCESS")
                    .hasMessageContaining("key");
        }
    }

    @Test
    void whatIsInFlightComesBackWhenTheConnectionEndsOrIsClosed() {
        VerbsLink other = new VerbsLink(8);
        VerbsLink.VerbsSide side = other.near;
        assertThat(side.pair.tryReceive(side.region, 0, 64, 1)).isTrue();
        assertThat(side.pair.tryReceive(side.region, 64, 64, 2)).isTrue();
        assertThatIllegalStateException().isThrownBy(side.region::close).withMessageContaining("in flight");
        other.far.connection.disconnect();
        assertThat(side.connection.awaitDisconnected(VerbsLink.DEADLINE)).isTrue();
        assertThat(side.pair.isConnected()).isFalse();
        side.connection.close();
        assertThat(List.of(side.nextError(), side.nextError())).extracting(WorkError::token, WorkError::status)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(1L, WorkStatus.FLUSHED),
                        org.assertj.core.groups.Tuple.tuple(2L, WorkStatus.FLUSHED));
        assertThatIllegalStateException()
                .isThrownBy(() -> side.pair.tryWrite(side.region, 0, 8, other.far.region.remote(), 0, 0, 1))
                .withMessageContaining("closed");
        other.close();
    }

    @Test
    void aRejectionAndNobodyListeningAreNamed() {
        List<String> addresses = VerbsLink.addresses();
        Verbs verbs = Verbs.load();
        InetSocketAddress free;
        try (ConnectionListener listener = verbs.listen(new InetSocketAddress(addresses.getFirst(), 0), 1)) {
            free = listener.address();
            Thread rejecting = Thread.ofVirtual().start(() -> {
                try (VerbsConnection request = listener.next(VerbsLink.DEADLINE)) {
                    request.reject(new byte[]{9});
                }
            });
            assertRefused(verbs, free);
            assertThat(rejecting.isAlive() && !joined(rejecting)).isFalse();
        }
        assertRefused(verbs, free);
    }

    /** The kernel has the same deadline and may be the first to say so. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100, 1000})
    void aResolutionOfAnAddressThatNobodyHasEndsAtTheDeadline(int milliseconds) {
        assumeTrue(System.getenv("OFI4J_OTHER_PROCESSOR") != null,
                "only of a virtual machine it is known who is there");
        InetSocketAddress nobody = new InetSocketAddress("198.18.0.3", 1);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> Verbs.load().resolve(null, nobody, Duration.ofMillis(milliseconds)))
                .withMessageContaining("rdma_resolve_addr did not succeed within");
    }

    private static boolean joined(Thread thread) {
        try {
            return thread.join(Patience.seconds(10));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertRefused(Verbs verbs, InetSocketAddress to) {
        try (VerbsConnection connection = verbs.resolve(null, to, VerbsLink.DEADLINE);
                ProtectionDomain domain = connection.context().openProtectionDomain();
                VerbsCompletionQueue queue = connection.context().openCompletionQueue(16);
                QueuePair pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue).sizes(4, 4))) {
            assertThatThrownBy(() -> connection.connect(new byte[0], VerbsLink.DEADLINE))
                    .isInstanceOf(FabricException.class).hasMessageMatching(".*(reject|refused).*");
            assertThat(pair.isConnected()).isFalse();
        }
    }
}
