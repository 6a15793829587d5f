package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The calls of fi_rma beyond plain write, read and inject: vectors, flags, prepared operations, and data for the peer.
 */
@Timeout(600)
class RmaCallsTest {
    private static final int LENGTH = 4096;

    private final Random random = new Random(7);

    /** What the far side's queue was told of peers' writes. */
    private static List<Long> pollForData(Pair pair, int count) {
        List<Long> data = new ArrayList<>();
        Waiting.YIELD.until(() -> {
            pair.pollNear();
            pair.farQueue.poll((token, flags, length, value) -> {
                if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
                    assertThat(token).isEqualTo(CompletionHandler.NO_TOKEN);
                    data.add(value);
                }
            }, 64);
            return data.size() >= count;
        }, Pair.DEADLINE);
        return data;
    }

    private byte[] fill(MemoryRegion region) {
        byte[] bytes = new byte[Math.toIntExact(region.length())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, region.segment(), JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    private static void awaitBytes(Pair pair, MemoryRegion region, byte[] expected) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return region.segment().mismatch(MemorySegment.ofArray(expected)) == -1;
        }, Pair.DEADLINE);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aWriteWithDataTellsTheTarget(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            byte[] sent = fill(source);
            long data = pair.domain.info().domain().completionDataSize() == 8 ? 0x1122334455667788L : 0x11223344L;

            pair.rma().writeData(source.slice(0, LENGTH), data, pair.far, target.remote(), 5);
            assertThat(pollForData(pair, 1)).containsExactly(data);
            pair.awaitCompletions(1);

            assertThat(pair.completed).containsExactly(5L);
            assertThat(target.segment().toArray(JAVA_BYTE)).isEqualTo(sent);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void anInjectWithDataTellsTheTarget(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            byte[] sent = fill(source);

            pair.rma().injectWriteData(source.slice(0, 8), 77, pair.far, target.remote());
            assertThat(pollForData(pair, 1)).containsExactly(77L);

            assertThat(pair.completed).isEmpty();
            assertThat(target.segment().toArray(JAVA_BYTE)).isEqualTo(sent);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void scatteredSegmentsGoOutInOneOperationAndComeBack(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion one = pair.domain.allocate(100, Access.WRITE, Access.READ);
                MemoryRegion two = pair.domain.allocate(100, Access.WRITE, Access.READ);
                MemoryRegion there = pair.domain.allocate(60, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            byte[] first = fill(one);
            byte[] second = fill(two);
            PreparedRma prepared = pair.rma().prepare().peer(pair.far);
            assertThat(prepared.localLimit()).as("segments that %s takes", provider).isGreaterThanOrEqualTo(2);
            prepared.local(one, 10, 20).local(two, 50, 40).remote(there.remote(), 0, 60);
            byte[] expected = new byte[60];
            System.arraycopy(first, 10, expected, 0, 20);
            System.arraycopy(second, 50, expected, 20, 40);

            prepared.write(1);
            pair.awaitToken(1);
            awaitBytes(pair, there, expected);
            one.segment().fill((byte) 0);
            two.segment().fill((byte) 0);
            prepared.read(2);
            pair.awaitToken(2);
            assertThat(one.segment().asSlice(10, 20).toArray(JAVA_BYTE))
                    .isEqualTo(java.util.Arrays.copyOf(expected, 20));
            assertThat(two.segment().asSlice(50, 40).toArray(JAVA_BYTE))
                    .isEqualTo(java.util.Arrays.copyOfRange(expected, 20, 60));
            assertThat(one.segment().get(JAVA_BYTE, 9)).isZero();
            assertThat(one.segment().get(JAVA_BYTE, 30)).isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void segmentsAreScatteredAtTheTargetAsFarAsTheProviderTakesThem(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE, Access.READ);
                MemoryRegion there = pair.domain.allocate(256, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            byte[] sent = fill(source);
            PreparedRma prepared = pair.rma().prepare().peer(pair.far).local(source, 0, 64);
            int parts = Math.min(4, prepared.remoteLimit());
            int size = 64 / parts;
            byte[] expected = new byte[256];
            for (int part = 0; part < parts; part++) {
                prepared.remote(there.remote(), part * 64L, size);
                System.arraycopy(sent, part * size, expected, part * 64, size);
            }

            prepared.write(1);
            pair.awaitToken(1);
            awaitBytes(pair, there, expected);
            source.segment().fill((byte) 0);
            prepared.read(2);
            pair.awaitToken(2);

            assertThat(source.segment().toArray(JAVA_BYTE)).isEqualTo(sent);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aPreparedOperationIsPostedAgainAfterAFieldHasChanged(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(80, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(80, Access.REMOTE_WRITE)) {
            byte[] sent = fill(source);
            PreparedRma prepared = pair.rma().prepare().peer(pair.far);
            for (int i = 0; i < 10; i++) {
                prepared.clear().local(source, i * 8L, 8).remote(target.remote(), 72 - i * 8L, 8).write(i);
                pair.awaitToken(i);
            }
            byte[] expected = new byte[80];
            for (int i = 0; i < 10; i++) {
                System.arraycopy(sent, i * 8, expected, 72 - i * 8, 8);
            }
            awaitBytes(pair, target, expected);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void deliveryCompleteMeansThatTheBytesAreThere(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            PreparedRma prepared = pair.rma().prepare().peer(pair.far).local(source, 0, LENGTH)
                    .remote(target.remote(), 0, LENGTH).flags(OperationFlag.DELIVERY_COMPLETE);
            for (int i = 0; i < 20; i++) {
                byte[] sent = fill(source);
                prepared.write(i);
                pair.awaitToken(i);

                assertThat(target.segment().mismatch(MemorySegment.ofArray(sent))).as("round %d", i).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = OperationFlag.class, names = {"MORE", "INJECT", "INJECT_COMPLETE", "TRANSMIT_COMPLETE"})
    void everyOtherFlagIsTaken(OperationFlag flag) {
        for (String provider : TestProviders.rma().toList()) {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                byte[] sent = fill(source);
                PreparedRma prepared = pair.rma().prepare().peer(pair.far).local(source, 0, 8).remote(target.remote(),
                        0, 8);
                prepared.flags(flag).write(1);
                prepared.flags().write(2); // what MORE has announced
                pair.awaitCompletions(2);

                assertThat(pair.errors).as(provider).isEmpty();
                assertThat(pair.completed).as(provider).containsExactlyInAnyOrder(1L, 2L);
                awaitBytes(pair, target, sent);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aMessageCarriesDataWithItsFlag(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.rma().prepare().peer(pair.far).local(source, 0, 8).remote(target.remote(), 0, 8)
                    .flags(OperationFlag.REMOTE_CQ_DATA).data(99).write(3);

            assertThat(pollForData(pair, 1)).containsExactly(99L);
        }
    }

    @Test
    void aFenceIsTakenByTheProviderThatHasIt() {
        FabricHints hints = TestProviders.hints("sockets").capabilities(Capability.RMA, Capability.FENCE);
        try (Pair pair = new Pair(hints);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE, Access.READ);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ);
                MemoryRegion back = pair.domain.allocate(LENGTH, Access.READ)) {
            byte[] sent = fill(source);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
            pair.rma().prepare().peer(pair.far).local(back, 0, LENGTH).remote(target.remote(), 0, LENGTH)
                    .flags(OperationFlag.FENCE).read(2);
            pair.awaitCompletions(2);

            assertThat(pair.errors).isEmpty();
            assertThat(back.segment().mismatch(MemorySegment.ofArray(sent))).isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aWriteOfNoBytesIsDeliveredOrRefused(String provider) {
        boolean hangs = provider.equals("shm") && TestProviders.isBefore(1, 19);
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            PreparedRma prepared = pair.rma().prepare().peer(pair.far).local(source, 0, 0).remote(target.remote(), 0, 0)
                    .flags(OperationFlag.DELIVERY_COMPLETE);
            if (hangs) {
                assertThatThrownBy(() -> prepared.write(1)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("no bytes");
                assertThat(pair.queue.operationsInFlight()).isZero();
            } else {
                prepared.write(1);
                pair.awaitToken(1);
            }
        }
    }

    @Test
    void writesOfNoBytesThatShmWouldDeliverByDefaultAreRefusedWhereTheyNeverComplete() {
        boolean hangs = TestProviders.isBefore(1, 19);
        try (Pair pair = new Pair(TestProviders.hints("shm").operationFlags(OperationFlag.DELIVERY_COMPLETE));
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            PreparedRma prepared = pair.rma().prepare().peer(pair.far).local(source, 0, 0).remote(target.remote(), 0,
                    0);
            List<Runnable> writes = List.of(() -> pair.rma().write(source.slice(0, 0), pair.far, target.remote(), 1),
                    () -> pair.rma().writeData(source.slice(0, 0), 2, pair.far, target.remote(), 1),
                    () -> prepared.write(1));
            for (Runnable write : writes) {
                if (hangs) {
                    assertThatThrownBy(write::run).isInstanceOf(UnsupportedOperationException.class);
                } else {
                    write.run();
                    pair.awaitToken(1);
                }
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aFlagWhoseCapabilityTheProviderLacksIsRefused(String provider) {
        try (Pair pair = new Pair(provider)) {
            PreparedRma prepared = pair.rma().prepare();
            refuses(prepared, OperationFlag.FENCE, Capability.FENCE, pair);
            refuses(prepared, OperationFlag.COMMIT_COMPLETE, Capability.RMA_PMEM, pair);
        }
    }

    private static void refuses(PreparedRma prepared, OperationFlag flag, Capability needed, Pair pair) {
        if (pair.endpoint.info().capabilities().contains(needed)) {
            prepared.flags(flag);
            return;
        }
        prepared.flags(OperationFlag.INJECT);
        assertThatThrownBy(() -> prepared.flags(flag)).isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining(flag + " needs Capability." + needed);
        assertThat(prepared.flags).isEqualTo(OperationFlag.INJECT.bit());
    }

    @Test
    void aRegionBehindTheFirstSegmentStaysUntilTheOperationHasCompleted() {
        int large = 16 << 20;
        try (Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion one = pair.domain.allocate(large, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(2L * large, Access.REMOTE_WRITE)) {
            MemoryRegion two = pair.domain.allocate(large, Access.WRITE);
            pair.rma().prepare().peer(pair.far).local(one, 0, large).local(two, 0, large)
                    .remote(target.remote(), 0, 2L * large).write(1);
            assertThat(two.operationsInFlight()).isEqualTo(1);

            two.close();

            assertThat(two.segment().scope().isAlive()).isTrue();
            pair.awaitToken(1);
            assertThat(two.segment().scope().isAlive()).isFalse();
        }
    }

    @Test
    void aMessageThatIsNotCompleteOrNotAllowedIsRefused() {
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion large = pair.domain.allocate(1 << 20, Access.WRITE, Access.REMOTE_WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            PreparedRma prepared = pair.rma().prepare();
            assertThatIllegalStateException().isThrownBy(() -> prepared.tryWrite(1)).withMessageContaining("peer");
            prepared.peer(pair.far);
            assertThatIllegalStateException().isThrownBy(() -> prepared.tryWrite(1)).withMessageContaining("segments");
            prepared.local(source, 0, 8).remote(target.remote(), 0, 7);
            assertThatIllegalStateException().isThrownBy(() -> prepared.tryWrite(1))
                    .withMessageContaining("the same number of bytes");
            prepared.remote(target.remote(), 7, 1);
            assertThatIllegalArgumentException().isThrownBy(() -> prepared.tryRead(1)).withMessageContaining("lacks");
            assertThatThrownBy(() -> prepared.local(source, LENGTH, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> prepared.remote(target.remote(), -1, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class).hasMessageContaining("remote");
            assertThatIllegalArgumentException().isThrownBy(() -> {
                for (int i = 0; i < 100; i++) {
                    prepared.local(source, 0, 1);
                }
            }).withMessageContaining("at most");
            prepared.clear().local(large, 0, 1 << 20).remote(large.remote(), 0, 1 << 20).flags(OperationFlag.INJECT);
            assertThatIllegalArgumentException().isThrownBy(() -> prepared.tryWrite(1))
                    .withMessageContaining("an inject");
            prepared.flags();
            MemoryRegion closed = pair.domain.allocate(8, Access.WRITE);
            closed.close();
            prepared.clear().local(closed, 0, 8).remote(target.remote(), 0, 8);
            assertThatIllegalStateException().isThrownBy(() -> prepared.tryWrite(1)).withMessageContaining("closed");
            assertThat(pair.queue.operationsInFlight()).isZero();
        }
    }

    @Test
    void dataThatTheProviderWouldCutIsRefused() {
        FabricInfo info = TestProviders.info("shm");
        assertThat(info.domain().completionDataSize()).isPositive();
        try (Pair pair = new Pair("udp;ofi_rxd");
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            long size = pair.domain.info().domain().completionDataSize();
            if (size < Long.BYTES) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.rma().tryWriteData(source, 0, 8, -1, pair.far, target.remote(), 0, 1))
                        .withMessageContaining("too few");
            } else {
                assertThat(size).isEqualTo(Long.BYTES);
            }
        }
    }

    @Test
    void aPostWithoutRoomNamesThePeer() {
        try (Pair pair = new Pair("tcp;ofi_rxm"); MemoryRegion region = pair.domain.allocate(8, Access.WRITE)) {
            int absent = 4; // no process can listen at this port
            Peer peer = pair.vector.insert(EndpointAddress.of(new InetSocketAddress("127.0.0.1", absent)));
            pair.endpoint.postTimeout(Duration.ofMillis(200));
            assertThatThrownBy(() -> {
                for (int token = 1; token < 10_000; token++) {
                    pair.rma().write(region.slice(0, 8), peer, new RemoteRegion(0, 8, 1, Access.REMOTE_WRITE.bit()),
                            token);
                }
            }).isInstanceOf(FabricException.class).hasMessageContaining("127.0.0.1:" + absent);
        }
    }
}
