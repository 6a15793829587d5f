package io.ofi4j.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.support.AllocatedBytes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pieces of a region, taken and given back, by one thread and by several. */
@Timeout(300)
class RegisteredPoolTest {
    private static final int SMALLEST = 64;

    private final Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
    private final Domain domain = fabric.openDomain();
    private MemoryRegion region;

    private RegisteredPool pool(long bytes) {
        region = domain.allocate(bytes, Access.SEND, Access.RECEIVE);
        return new RegisteredPool(region, SMALLEST);
    }

    @AfterEach
    void close() {
        if (region != null) { region.close(); }
        domain.close();
        fabric.close();
    }

    /** Also of regions whose lengths are no power of two. */
    @ParameterizedTest
    @ValueSource(ints = {SMALLEST, 100, 4096, 4096 + SMALLEST, 65_536 - 1, 100_000})
    void piecesAreInsideTheRegionAndDoNotOverlap(int bytes) {
        RegisteredPool pool = pool(bytes);
        Random random = new Random(bytes);
        BitSet used = new BitSet();
        List<long[]> pieces = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            if (random.nextInt(5) < 3) {
                long length = random.nextLong(Math.min(pool.largest(), 2000) + 1);
                long offset = pool.take(length);
                if (offset == RegisteredPool.NONE) { continue; }
                assertThat(offset + length).isLessThanOrEqualTo(bytes);
                assertThat(offset % Long.highestOneBit(Math.max(1, length))).isZero();
                assertThat(used.get((int) offset, (int) (offset + length)).cardinality()).isZero();
                used.set((int) offset, (int) (offset + length));
                pieces.add(new long[]{offset, length});
            } else if (!pieces.isEmpty()) {
                long[] piece = pieces.remove(random.nextInt(pieces.size()));
                pool.give(piece[0]);
                used.clear((int) piece[0], (int) (piece[0] + piece[1]));
            }
        }
        pieces.forEach(piece -> pool.give(piece[0]));

        assertThat(pool.taken()).isZero();
        assertThat(pool.take(pool.largest())).isZero(); // all neighbours are one again
    }

    @Test
    void allSmallestPiecesCanBeTakenAndThenNone() {
        RegisteredPool pool = pool(10 * SMALLEST);
        for (int i = 0; i < 10; i++) {
            assertThat(pool.take(1)).isNotEqualTo(RegisteredPool.NONE);
        }

        assertThat(pool.take(1)).isEqualTo(RegisteredPool.NONE);
        assertThat(pool.taken()).isEqualTo(10 * SMALLEST);
    }

    @Test
    void aPieceOfMoreThanTheLargestIsRefused() {
        RegisteredPool pool = pool(10 * SMALLEST);

        assertThat(pool.largest()).isEqualTo(8 * SMALLEST);
        assertThatIllegalArgumentException().isThrownBy(() -> pool.take(8 * SMALLEST + 1))
                .withMessageContaining("0 to 512 bytes");
        assertThatIllegalArgumentException().isThrownBy(() -> pool.take(-1)).withMessageContaining("not -1");
    }

    @Test
    void aPieceIsGivenBackOnce() {
        RegisteredPool pool = pool(4096);
        long offset = pool.take(1000);
        assertThatIllegalArgumentException().isThrownBy(() -> pool.give(offset + SMALLEST));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.give(offset + 1));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.give(-SMALLEST));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.give(4096));
        pool.give(offset);

        assertThatIllegalArgumentException().isThrownBy(() -> pool.give(offset))
                .withMessageContaining("given back before");
        assertThat(pool.taken()).isZero();
    }

    @Test
    void theMemoryOfTheRegionIsKnownByItsAddress() {
        RegisteredPool pool = pool(4096);
        long start = region.segment().address();
        MemorySegment piece = region.segment().asSlice(pool.take(100), 100);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment other = arena.allocate(4096);
            assertThat(pool.contains(other.address(), 1)).isFalse();
        }

        assertThat(pool.contains(piece.address(), piece.byteSize())).isTrue();
        assertThat(pool.offset(piece.address())).isEqualTo(piece.address() - start);
        assertThat(pool.contains(start, 4096)).isTrue();
        assertThat(pool.contains(start + 4096, 0)).isTrue();
        assertThat(pool.contains(start, 4097)).isFalse();
        assertThat(pool.contains(start - 1, 2)).isFalse();
        assertThat(pool.contains(start, -1)).isFalse();
        assertThat(pool.contains(start + 1, Long.MAX_VALUE)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> pool.offset(start - 1))
                .withMessageContaining("is not in the region");
        assertThatIllegalArgumentException().isThrownBy(() -> pool.offset(start + 4097));
    }

    @Test
    void aClosedRegionGivesNoPiecesAndTakesThemBack() {
        RegisteredPool pool = pool(4096);
        long start = region.segment().address();
        long offset = pool.take(64);
        region.close();

        assertThatIllegalStateException().isThrownBy(() -> pool.take(64))
                .withMessageContaining("takes no more operations");
        assertThat(pool.contains(start, 64)).isFalse();
        pool.give(offset);
        assertThat(pool.taken()).isZero();
    }

    @Test
    void takesAndGivesAllocateNothing() {
        RegisteredPool pool = pool(1 << 20);
        long[] offsets = new long[100];
        long allocated = -1;
        for (int round = 0; round < 3; round++) { // classes are loaded in the first ones
            long before = AllocatedBytes.now();
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = pool.take(100L * i);
            }
            for (long offset : offsets) {
                pool.give(offset);
            }
            allocated = AllocatedBytes.now() - before;
        }

        assertThat(allocated).isZero();
    }

    /** Each piece has its own offset in its first and last bytes, which a piece with the same bytes would overwrite. */
    @Test
    void threadsTakePiecesAndOthersGiveThemBack() throws Exception {
        int threads = 4;
        int rounds = 20_000;
        RegisteredPool pool = pool(64 * 1024);
        MemorySegment memory = region.segment();
        BlockingQueue<Long> taken = new ArrayBlockingQueue<>(128);
        ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
        AtomicInteger givers = new AtomicInteger(threads * rounds);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Random random = new Random(i);
            all.add(Thread.ofPlatform().daemon().start(() -> {
                for (int round = 0; round < rounds; round++) {
                    try {
                        int length = 2 * Long.BYTES + random.nextInt(1000);
                        long offset;
                        while ((offset = pool.take(length)) == RegisteredPool.NONE) {
                            Thread.onSpinWait();
                        }
                        memory.set(ValueLayout.JAVA_LONG, offset, offset);
                        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset + length - 8, offset);
                        taken.put(offset << 16 | length);
                    } catch (Throwable t) {
                        faults.add(t.toString());
                        return;
                    }
                }
            }));
            all.add(Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (givers.getAndDecrement() > 0) {
                        Long piece = taken.poll(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
                        long offset = piece >>> 16;
                        long length = piece & 0xffff;
                        if (memory.get(ValueLayout.JAVA_LONG, offset) != offset
                                || memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + length - 8) != offset) {
                            faults.add("the bytes at " + offset + " are another's");
                        }
                        pool.give(offset);
                    }
                } catch (Throwable t) {
                    faults.add(t.toString());
                }
            }));
        }
        for (Thread thread : all) {
            assertThat(thread.join(Pair.DEADLINE)).isTrue();
        }

        assertThat(faults).isEmpty();
        assertThat(pool.taken()).isZero();
        assertThat(pool.take(pool.largest())).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void messagesOfPiecesComeAndTheirCompletionsGiveThemBack(String provider) {
        int count = 200;
        try (Pair pair = new Pair(TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA));
                MemoryRegion memory = pair.domain.allocate(16 * 1024, Access.SEND, Access.RECEIVE)) {
            RegisteredPool pool = new RegisteredPool(memory, SMALLEST);
            Messages sends = pair.endpoint.messages();
            Messages receives = pair.farEndpoint.messages();
            List<Long> received = new ArrayList<>();
            CompletionHandler sent = (offset, flags, length, data) -> pool.give(offset);
            CompletionHandler arrived = (offset, flags, length, data) -> {
                received.add(memory.segment().get(ValueLayout.JAVA_LONG, offset));
                pool.give(offset);
            };
            for (long number = 0; number < count; number++) {
                long value = number;
                Waiting.YIELD.until(() -> {
                    pair.queue.poll(sent, 16);
                    pair.farQueue.poll(arrived, 16);
                    return postBoth(pool, memory, receives, sends, pair, value);
                }, Pair.DEADLINE);
            }
            Waiting.YIELD.until(() -> {
                pair.queue.poll(sent, 16);
                pair.farQueue.poll(arrived, 16);
                return pool.taken() == 0;
            }, Pair.DEADLINE);

            assertThat(received).hasSize(count).doesNotHaveDuplicates();
        }
    }

    /** A receive and a send of two pieces; false if there is no room for both. */
    private static boolean postBoth(RegisteredPool pool, MemoryRegion memory, Messages receives, Messages sends,
            Pair pair, long value) {
        long target = pool.take(1000);
        long source = pool.take(1000);
        if (target == RegisteredPool.NONE || source == RegisteredPool.NONE) {
            if (target != RegisteredPool.NONE) { pool.give(target); }
            if (source != RegisteredPool.NONE) { pool.give(source); }
            return false;
        }
        memory.segment().set(ValueLayout.JAVA_LONG, source, value);
        receives.receive(memory.slice(target, 1000), target);
        sends.send(memory.slice(source, 1000), pair.far, source);
        return true;
    }
}
