package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes arrive as they were, all of them, and nothing beside them changes. */
@Tag("gate")
@Timeout(900)
class TransferTest {
    private static final int GUARD = 64;
    private static final int ALL_UP_TO = 300;
    private static final int MAX_LISTED = 64 * 1024;
    private static final int LARGE = 64 * 1024 * 1024;
    /** ofi_rxd sends 64 MiB in packets that it waits for, which takes some seconds of a processor. */
    private static final Duration LONG = Patience.seconds(60);

    private final Random random = new Random(42);

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    @DisplayName("a write of any size arrives intact, with one completion")
    void writeArrives(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(MAX_LISTED + 1 + GUARD, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(MAX_LISTED + 1 + 2 * GUARD, Access.REMOTE_WRITE)) {
            for (int size : sizes(MAX_LISTED + 1)) {
                int offset = size % GUARD;
                byte[] sent = fill(source.segment().asSlice(offset, size));
                target.segment().fill((byte) 0x5a);

                pair.rma().write(source.slice(offset, size), pair.far, target.remote().slice(GUARD, size), size);
                pair.awaitToken(size);
                awaitArrival(pair, target, sent);

                assertArrived(target, sent);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    @DisplayName("a read of any size fetches what is there, with one completion")
    void readFetches(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion target = pair.domain.allocate(MAX_LISTED + 1 + 2 * GUARD, Access.READ);
                MemoryRegion source = pair.domain.allocate(MAX_LISTED + 1 + GUARD, Access.REMOTE_READ)) {
            for (int size : sizes(MAX_LISTED + 1)) {
                int offset = size % GUARD;
                byte[] there = fill(source.segment().asSlice(offset, size));
                target.segment().fill((byte) 0x5a);

                pair.rma().read(target.slice(GUARD, size), pair.far, source.remote().slice(offset, size), size);
                pair.awaitToken(size);

                assertArrived(target, there);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    @DisplayName("an inject of any size up to the provider's limit arrives intact, though the source changes at once")
    void injectArrives(String provider) {
        try (Pair pair = new Pair(provider)) {
            int limit = Math.toIntExact(pair.rma().injectSize());
            assertThat(limit).as("inject size of %s", provider).isPositive();
            try (MemoryRegion source = pair.domain.allocate(limit + 1L, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(limit + 2L * GUARD, Access.REMOTE_WRITE)) {
                for (int size = 0; size <= limit; size++) {
                    byte[] sent = fill(source.segment().asSlice(0, size));
                    target.segment().fill((byte) 0x5a);

                    pair.rma().injectWrite(source.slice(0, size), pair.far, target.remote().slice(GUARD, size));
                    source.segment().fill((byte) 0);
                    awaitArrival(pair, target, sent);

                    assertArrived(target, sent);
                }
                assertThat(pair.completed).as("an inject gives no completion").isEmpty();
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    @DisplayName("64 MiB go out and come back, in as many operations as it takes")
    void largeTransfers(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion here = pair.domain.allocate(LARGE, Access.READ, Access.WRITE);
                MemoryRegion there = pair.domain.allocate(LARGE, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            byte[] sent = fill(here.segment());
            long limit = Math.min(LARGE, pair.rma().maximumMessageSize());

            for (long done = 0; done < LARGE; done += limit) {
                pair.rma().write(here.slice(done, Math.min(limit, LARGE - done)), pair.far,
                        there.remote().slice(done, Math.min(limit, LARGE - done)), 1);
                pair.awaitToken(1, LONG);
            }
            Waiting.YIELD.until(() -> {
                pair.poll();
                return there.segment().mismatch(MemorySegment.ofArray(sent)) == -1;
            }, LONG);
            here.segment().fill((byte) 0);
            for (long done = 0; done < LARGE; done += limit) {
                pair.rma().read(here.slice(done, Math.min(limit, LARGE - done)), pair.far,
                        there.remote().slice(done, Math.min(limit, LARGE - done)), 2);
                pair.awaitToken(2, LONG);
            }

            assertThat(here.segment().mismatch(MemorySegment.ofArray(sent))).isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    @DisplayName("as many writes as the queue holds are in flight at once, and each token comes back once")
    void manyInFlight(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            int count = 4 * pair.queue.size();
            List<Long> expected = new ArrayList<>();
            for (long token = 0; token < count; token++) {
                expected.add(token);
                long next = token;
                Waiting.YIELD.until(() -> {
                    if (pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, next)) { return true; }
                    pair.poll();
                    return false;
                }, Pair.DEADLINE);
            }
            pair.awaitCompletions(count);

            assertThat(pair.errors).isEmpty();
            assertThat(pair.completed).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(pair.queue.operationsInFlight()).isZero();
        }
    }

    /** A completion says that the source may be changed; some providers need the target's progress to deliver. */
    private static void awaitArrival(Pair pair, MemoryRegion target, byte[] sent) {
        MemorySegment range = target.segment().asSlice(GUARD, sent.length);
        Waiting.YIELD.until(() -> {
            pair.poll();
            return range.mismatch(MemorySegment.ofArray(sent)) == -1;
        }, Pair.DEADLINE);
    }

    private static void assertArrived(MemoryRegion target, byte[] sent) {
        byte[] all = target.segment().toArray(JAVA_BYTE);
        for (int i = 0; i < all.length; i++) {
            boolean inside = i >= GUARD && i < GUARD + sent.length;
            byte expected = inside ? sent[i - GUARD] : 0x5a;
            if (all[i] != expected) {
                assertThat(all[i]).as("byte %d of the target of %d bytes", i - GUARD, sent.length).isEqualTo(expected);
            }
        }
    }

    private byte[] fill(MemorySegment segment) {
        byte[] bytes = new byte[Math.toIntExact(segment.byteSize())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, segment, JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    /** Every size up to 300, then powers of two and their neighbours. */
    private static List<Integer> sizes(int largest) {
        List<Integer> sizes = new ArrayList<>();
        for (int size = 0; size <= ALL_UP_TO; size++) {
            sizes.add(size);
        }
        for (int power = 512; power <= largest; power *= 2) {
            sizes.addAll(List.of(power - 1, power, power + 1));
        }
        return sizes;
    }
}
