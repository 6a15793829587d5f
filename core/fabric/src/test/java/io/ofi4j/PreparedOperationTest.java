package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Prepared operations of which one field is changed, and nothing else is set again, before they are posted again. */
@Timeout(300)
class PreparedOperationTest {
    private static final int LENGTH = 64;
    private static final int HALF = LENGTH / 2;

    /** A region at each end, and an operation that writes from the one to the other. */
    private static final class Prepared implements AutoCloseable {
        final Pair pair;
        final MemoryRegion source;
        final MemoryRegion target;
        final PreparedRma operation;
        final List<Long> told = new ArrayList<>();

        Prepared(Pair pair) {
            this.pair = pair;
            this.source = pair.domain.allocate(LENGTH, Access.READ, Access.WRITE);
            this.target = pair.domain.allocate(2L * LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE);
            this.operation = pair.rma().prepare().peer(pair.far).local(source, 0, LENGTH).remote(target.remote(), 0,
                    LENGTH);
            source.segment().fill((byte) 1);
        }

        /** Posts it as it is, and waits for it. */
        void write(long token) {
            operation.write(token);
            pair.completed.clear();
            Waiting.YIELD.until(() -> {
                pollFar(pair.farQueue);
                pair.pollNear();
                return pair.completed.size() + pair.errors.size() > 0;
            }, Pair.DEADLINE);
            assertThat(pair.errors).isEmpty();
            assertThat(pair.completed).containsExactly(token);
        }

        void awaitData(long data) { awaitThat(() -> told.contains(data), pair.farQueue); }

        void awaitBytes(MemoryRegion region, long offset, int length, int value) {
            byte[] expected = new byte[length];
            Arrays.fill(expected, (byte) value);
            awaitThat(() -> region.segment().asSlice(offset, length).mismatch(MemorySegment.ofArray(expected)) == -1,
                    pair.farQueue);
        }

        void awaitThat(BooleanSupplier condition, CompletionQueue queue) {
            Waiting.YIELD.until(() -> {
                pollFar(queue);
                pair.pollNear();
                return condition.getAsBoolean();
            }, Pair.DEADLINE);
        }

        private void pollFar(CompletionQueue queue) {
            queue.poll((token, flags, length, data) -> {
                if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { told.add(data); }
            }, LENGTH);
        }

        @Override
        public void close() {
            source.close();
            target.close();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void onlyThePeer(String provider) {
        try (Pair pair = new Pair(provider);
                CompletionQueue queue = pair.domain.openCompletionQueue();
                Endpoint third = pair.domain.openEndpoint().bind(pair.vector).bind(queue).enable();
                Prepared prepared = new Prepared(pair)) {
            prepared.operation.flags(OperationFlag.REMOTE_CQ_DATA).data(7);
            prepared.write(1);
            prepared.awaitData(7);
            prepared.told.clear();
            Peer other = pair.vector.insert(third.address());

            prepared.operation.peer(other).write(2);
            prepared.awaitThat(() -> prepared.told.contains(7L) && pair.completed.contains(2L), queue);
            prepared.told.clear();
            prepared.operation.peer(pair.far);
            prepared.write(3);
            prepared.awaitData(7);
        }
    }

    @Test
    void byTheThreadThatMadeItAlone() throws InterruptedException {
        try (Pair pair = new Pair("shm"); Prepared prepared = new Prepared(pair)) {
            List<Throwable> thrown = new ArrayList<>();
            for (Runnable use : List.<Runnable>of(prepared.operation::clear, () -> prepared.operation.data(1),
                    () -> prepared.operation.tryWrite(1))) {
                Thread.ofPlatform().start(() -> thrown.add(catchThrowable(use::run))).join();
            }

            assertThat(thrown).hasSize(3).allSatisfy(each -> assertThat(each).isInstanceOf(WrongThreadException.class)
                    .hasMessageContaining("Rma.prepare()"));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void onlyTheData(String provider) {
        try (Pair pair = new Pair(provider); Prepared prepared = new Prepared(pair)) {
            prepared.operation.flags(OperationFlag.REMOTE_CQ_DATA);
            for (long data = 1; data <= 10; data++) {
                prepared.operation.data(data);
                prepared.write(data);
                prepared.awaitData(data);
            }
            assertThat(prepared.told).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void onlyTheFlags(String provider) {
        try (Pair pair = new Pair(provider); Prepared prepared = new Prepared(pair)) {
            prepared.operation.data(5);
            prepared.write(1); // tells nothing
            prepared.operation.flags(OperationFlag.REMOTE_CQ_DATA);
            prepared.write(2);
            prepared.awaitData(5);
            prepared.operation.flags(OperationFlag.DELIVERY_COMPLETE);
            prepared.source.segment().fill((byte) 9);
            prepared.write(3);
            assertThat(prepared.target.segment().asSlice(0, LENGTH).mismatch(prepared.source.segment())).isEqualTo(-1);
            prepared.operation.flags(OperationFlag.REMOTE_CQ_DATA);
            prepared.write(4);
            prepared.awaitThat(() -> prepared.told.size() == 2, pair.farQueue);
            prepared.operation.flags();
            prepared.write(5);
            prepared.operation.flags(OperationFlag.REMOTE_CQ_DATA).data(6);
            prepared.write(6);
            prepared.awaitData(6);
            assertThat(prepared.told).containsExactly(5L, 5L, 6L);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void onlyOneLocalSegment(String provider) {
        try (Pair pair = new Pair(provider);
                Prepared prepared = new Prepared(pair);
                MemoryRegion other = pair.domain.allocate(LENGTH, Access.WRITE)) {
            other.segment().fill((byte) 2);
            prepared.operation.clear().local(prepared.source, 0, HALF).local(prepared.source, HALF, HALF)
                    .remote(prepared.target.remote(), 0, LENGTH);
            prepared.write(1);
            prepared.awaitBytes(prepared.target, 0, LENGTH, 1);

            prepared.operation.replaceLocal(1, other, 8, HALF);
            prepared.write(2);
            prepared.awaitBytes(prepared.target, HALF, HALF, 2);
            assertThat(prepared.target.segment().get(JAVA_BYTE, HALF - 1)).isEqualTo((byte) 1);
            prepared.operation.replaceLocal(0, other, 0, HALF).write(3);
            pair.awaitToken(3);
            prepared.awaitBytes(prepared.target, 0, LENGTH, 2);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void onlyOneRemoteSegment(String provider) {
        try (Pair pair = new Pair(provider); Prepared prepared = new Prepared(pair)) {
            PreparedRma operation = prepared.operation;
            boolean two = operation.remoteLimit() > 1;
            if (two) {
                operation.clear().local(prepared.source, 0, LENGTH).remote(prepared.target.remote(), 0, HALF)
                        .remote(prepared.target.remote(), HALF, HALF);
            }
            prepared.write(1);
            prepared.awaitBytes(prepared.target, 0, LENGTH, 1);

            prepared.source.segment().fill((byte) 3);
            int length = two ? HALF : LENGTH;
            operation.replaceRemote(two ? 1 : 0, prepared.target.remote(), LENGTH, length);
            prepared.write(2);
            prepared.awaitBytes(prepared.target, LENGTH, length, 3);
            assertThat(prepared.target.segment().asSlice(HALF, HALF).toArray(JAVA_BYTE)).containsOnly(1);
            prepared.awaitBytes(prepared.target, 0, HALF, two ? 3 : 1);
        }
    }

    @Test
    void aSegmentThatIsPutInTheWrongPlaceOrLacksARightIsRefused() {
        try (Pair pair = new Pair("shm");
                Pair stranger = new Pair("shm");
                Prepared prepared = new Prepared(pair);
                MemoryRegion foreign = stranger.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion readOnly = pair.domain.allocate(LENGTH, Access.READ, Access.REMOTE_READ)) {
            PreparedRma operation = prepared.operation;
            MemoryRegion source = prepared.source;
            RemoteRegion remote = prepared.target.remote();
            for (int index : new int[]{-1, 1}) {
                assertThatThrownBy(() -> operation.replaceLocal(index, source, 0, 8))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> operation.replaceRemote(index, remote, 0, 8))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> operation.replaceLocal(0, source, 1, LENGTH))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> operation.replaceRemote(0, remote, LENGTH + 1, LENGTH))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalArgumentException().isThrownBy(() -> operation.replaceLocal(0, foreign, 0, 8));
            operation.replaceLocal(0, source, 0, 8);
            assertThatIllegalStateException().isThrownBy(() -> operation.write(1));
            operation.replaceLocal(0, readOnly, 0, LENGTH);
            assertThatIllegalArgumentException().isThrownBy(() -> operation.write(1));
            operation.replaceLocal(0, source, 0, LENGTH).replaceRemote(0, readOnly.remote(), 0, LENGTH);
            assertThatIllegalArgumentException().isThrownBy(() -> operation.write(1));
            operation.replaceRemote(0, remote, 0, LENGTH);
            prepared.write(1);
            prepared.awaitBytes(prepared.target, 0, LENGTH, 1);
        }
    }
}
