package io.ofi4j.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Every operation in flight has a slot of its own, found again by its context. */
class ContextSlabTest {
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void aFullSlabSaysSo() {
        ContextSlab slab = new ContextSlab(arena, 2);

        assertThat(slab.acquire(1, 1, 1)).isNotNegative();
        assertThat(slab.acquire(2, 1, 1)).isNotNegative();
        assertThat(slab.acquire(3, 1, 1)).isEqualTo(-1);
        assertThat(slab.inFlight()).isEqualTo(2);
    }

    @Test
    void contextsThatAreNotOursAreNoSlot() {
        ContextSlab slab = new ContextSlab(arena, 4);
        int slot = slab.acquire(1, 1, 1);
        long context = slab.context(slot);

        assertThat(slab.slotOf(context)).isEqualTo(slot);
        assertThat(slab.slotOf(0)).isEqualTo(-1);
        assertThat(slab.slotOf(-1)).isEqualTo(-1);
        assertThat(slab.slotOf(context - ContextSlab.SLOT_SIZE)).isEqualTo(-1);
        assertThat(slab.slotOf(context + 4 * ContextSlab.SLOT_SIZE)).isEqualTo(-1);
        slab.release(slot);
        assertThat(slab.slotOf(context)).as("a slot that is free").isEqualTo(-1);
    }

    @Test
    void contextsStartOnCacheLines() {
        ContextSlab slab = new ContextSlab(arena, 3);

        for (int slot = 0; slot < 3; slot++) {
            assertThat(slab.context(slot) % 64).isZero();
        }
    }

    @Test
    void anEndpointsOperationsAreReleasedTogether() {
        ContextSlab slab = new ContextSlab(arena, 8);
        for (int i = 0; i < 8; i++) {
            slab.acquire(i, i % 2 == 0 ? 5 : ContextSlab.LARGEST_NUMBER, 7 + i % 2);
        }
        assertThat(slab.inFlightOfRegion(7)).isEqualTo(4);

        assertThat(slab.releaseEndpoint(5)).containsExactlyInAnyOrder(0, 2, 4, 6);
        assertThat(slab.inFlight()).isEqualTo(4);
        assertThat(slab.inFlightOfRegion(7)).isZero();
        assertThat(slab.inFlightOfRegion(8)).isEqualTo(4);
        assertThat(slab.releaseEndpoint(5)).isEmpty();
        assertThat(slab.releaseEndpoint(ContextSlab.LARGEST_NUMBER)).containsExactlyInAnyOrder(1, 3, 5, 7);
    }

    @RepeatedTest(20)
    void tokensComeBackWhateverTheOrder() {
        Random random = new Random();
        ContextSlab slab = new ContextSlab(arena, 1 + random.nextInt(50));
        Map<Long, Long> expected = new HashMap<>();
        for (int step = 0; step < 2000; step++) {
            if (random.nextBoolean() && expected.size() < slab.capacity()) {
                long token = random.nextLong();
                expected.put(slab.context(slab.acquire(token, 1 + random.nextInt(3), 1)), token);
            } else if (!expected.isEmpty()) {
                long context = expected.keySet().stream().skip(random.nextInt(expected.size())).findFirst().get();
                int slot = slab.slotOf(context);
                assertThat(slab.token(slot)).isEqualTo(expected.remove(context));
                slab.release(slot);
            }
            assertThat(slab.inFlight()).isEqualTo(expected.size());
        }
    }

    @RepeatedTest(20)
    void aRingGivesBackInOrderThoughItGrows() {
        Random random = new Random();
        CompletionRing ring = new CompletionRing(1 + random.nextInt(4));
        long in = 0;
        long out = 0;
        for (int step = 0; step < 500; step++) {
            long end = in + random.nextInt(10);
            for (; in < end; in++) {
                ring.add(in, in + 1, in + 2, in + 3, in + 4, in + 5, in + 6);
            }
            for (int left = random.nextInt(12); left > 0 && ring.size() > 0; left--, out++) {
                assertThat(LongStream.of(ring.token(), ring.flags(), ring.length(), ring.data(), ring.buffer(),
                        ring.tag(), ring.source()))
                        .containsExactlyElementsOf(LongStream.range(out, out + 7).boxed().toList());
                ring.remove();
            }
            assertThat(ring.size()).isEqualTo(in - out);
        }
    }
}
