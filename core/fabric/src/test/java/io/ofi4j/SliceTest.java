package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** Parts of regions as one argument, regions as buffers, and flags that tell of bytes. */
class SliceTest {
    private static final int SIZE = 64;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aSliceIsWrittenIntoASlice(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            source.segment().set(JAVA_BYTE, 9, (byte) 7);
            pair.rma().write(source.slice(8, 4), pair.far, target.remote().slice(32, 4), 1);
            pair.awaitCompletions(1);
            assertThat(target.segment().get(JAVA_BYTE, 33)).isEqualTo((byte) 7);
            assertThat(target.segment().asSlice(36).mismatch(MemorySegment.ofArray(new byte[28])))
                    .as("beyond the slice").isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aSliceIsReadIntoASlice(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion target = pair.domain.allocate(SIZE, Access.READ);
                MemoryRegion source = pair.domain.allocate(SIZE, Access.REMOTE_READ)) {
            source.asByteBuffer().putInt(16, 4711);
            pair.rma().read(target.slice(4, 4), pair.far, source.remote().slice(16, 4), 1);
            pair.awaitCompletions(1);
            assertThat(target.asByteBuffer().getInt(4)).isEqualTo(4711);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void injectsAndWritesWithDataTakeSlices(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            source.asByteBuffer().putLong(8, 4711);
            RemoteRegion there = target.remote();
            pair.rma().injectWrite(source.slice(8, 8), pair.far, there.slice(16, 8));
            pair.rma().writeData(source.slice(8, 8), 77, pair.far, there.slice(24, 8), 1);
            pair.rma().injectWriteData(source.slice(8, 8), 78, pair.far, there.slice(40, 8));
            Waiting.YIELD.until(() -> {
                pair.poll();
                return target.getLongAcquire(16) == 4711 && target.getLongAcquire(24) == 4711
                        && target.getLongAcquire(40) == 4711;
            }, Pair.DEADLINE);
            pair.awaitCompletions(1);
            assertThat(pair.completed).containsExactly(1L);
            assertThat(target.getLongAcquire(32)).as("between the slices").isZero();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void messagesTakeSlices(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.MSG, Capability.RMA)) {
            int count = 4;
            for (int i = 0; i < count; i++) {
                box.pair.farEndpoint.messages().receive(box.far.slice(8L * i, 8), i);
            }
            Messages messages = box.pair.endpoint.messages();
            box.write(8L * count, 3);
            messages.send(box.near.slice(0, 8), box.pair.far, 1);
            messages.inject(box.near.slice(8, 8), box.pair.far);
            messages.sendData(box.near.slice(16, 8), 77, box.pair.far, 2);
            messages.injectData(box.near.slice(24, 8), 78, box.pair.far);
            box.await(count / 2, count);

            assertThat(box.hasArrived(8L * count)).isTrue();
            assertThat(box.farDone.done).extracting(Mailbox.Done::data).contains(77L, 78L);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void taggedMessagesTakeSlices(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.TAGGED, Capability.RMA)) {
            int count = 4;
            for (int i = 0; i < count; i++) {
                box.pair.farEndpoint.tagged().receive(box.far.slice(8L * i, 8), i, 0, i);
            }
            Tagged tagged = box.pair.endpoint.tagged();
            box.write(8L * count, 4);
            tagged.injectData(box.near.slice(24, 8), 78, box.pair.far, 3);
            tagged.sendData(box.near.slice(16, 8), 77, box.pair.far, 2, 2);
            tagged.inject(box.near.slice(8, 8), box.pair.far, 1);
            tagged.send(box.near.slice(0, 8), box.pair.far, 0, 1);
            box.await(count / 2, count);

            assertThat(box.hasArrived(8L * count)).isTrue();
            assertThat(box.farDone.done).extracting(Mailbox.Done::data).contains(77L, 78L);
        }
    }

    @Test
    void aSliceOfASliceOfARemoteRegionCountsFromTheInnerStart() {
        RemoteRegion region = new RemoteRegion(1000, SIZE, 5, Access.REMOTE_READ.bit());
        assertThat(region.slice(8, 16).slice(4, 2)).isEqualTo(new RemoteRegion(1012, 2, 5, Access.REMOTE_READ.bit()));
    }

    @Test
    void bytesOutsideARegionMakeNoSlice() {
        RemoteRegion remote = new RemoteRegion(0, SIZE, 5, Access.REMOTE_READ.bit());
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> remote.slice(60, 5));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> remote.slice(-1, 1));
        try (Pair pair = new Pair("shm"); MemoryRegion region = pair.domain.allocate(SIZE, Access.READ)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.slice(60, 5));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.slice(0, -1));
        }
    }

    @Test
    void aTransferLargerThanTheRemoteSliceIsRefused() {
        try (Pair pair = new Pair("shm");
                MemoryRegion region = pair.domain.allocate(SIZE, Access.WRITE, Access.REMOTE_WRITE)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(0, 4), 1));
        }
    }

    @Test
    void aRegionIsABufferInTheMachinesByteOrder() {
        try (Pair pair = new Pair("shm"); MemoryRegion region = pair.domain.allocate(SIZE, Access.READ)) {
            ByteBuffer buffer = region.asByteBuffer();
            buffer.putLong(8, 42);
            assertThat(buffer.order()).isEqualTo(ByteOrder.nativeOrder());
            assertThat(region.getLongAcquire(8)).isEqualTo(42);
            region.setLongRelease(16, 43);
            assertThat(buffer.getLong(16)).isEqualTo(43);
            assertThatThrownBy(() -> region.getLongAcquire(4)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> region.setLongRelease(SIZE, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aFlagIsNotThereBeforeItsBytes(String provider) {
        try (Pair pair = new Pair(TestProviders.hints(provider));
                MemoryRegion source = pair.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            RemoteRegion bytes = target.remote().slice(0, 32);
            RemoteRegion flag = target.remote().slice(32, 8);
            if (!promisesOrder(pair)) {
                assertThatThrownBy(() -> pair.rma().writeThenNotify(source.slice(0, 32), pair.far, bytes,
                        source.slice(32, 8), flag, 1)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("writeData");
                return;
            }
            for (long round = 1; round <= 100; round++) {
                long number = round;
                source.asByteBuffer().putLong(24, number).putLong(32, number);
                pair.rma().writeThenNotify(source.slice(0, 32), pair.far, bytes, source.slice(32, 8), flag, number);
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return target.getLongAcquire(32) == number;
                }, Pair.DEADLINE);
                assertThat(target.asByteBuffer().getLong(24)).isEqualTo(number);
                pair.awaitCompletions((int) number);
            }
        }
    }

    private static boolean promisesOrder(Pair pair) {
        return pair.endpoint.info().transmit().messageOrder().contains(MessageOrder.RMA_WAW);
    }

    @Test
    void theOrderOfWritesIsPromisedBySome() {
        try (Pair pair = new Pair("tcp;ofi_rxm")) {
            assertThat(promisesOrder(pair)).isTrue();
        }
    }
}
