package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.TestSeed;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Every operation in flight has a slot of its own, found again by its context. */
@Tag("once")
class ContextSlabTest {
    private final Arena arena = Arena.ofConfined();
    private Random random;

    @BeforeEach
    void seed(TestInfo info) { random = TestSeed.random(info.getTestMethod() + info.getDisplayName()); }

    @AfterEach
    void close() { arena.close(); }

    private static long endpoint(int number) { return ContextSlab.endpoint(number); }

    @Test
    void aFullSlabSaysSo() {
        ContextSlab slab = new ContextSlab(arena, 2);

        assertThat(slab.acquire(1, endpoint(1), 1)).isNotEqualTo(ContextSlab.NONE);
        assertThat(slab.acquire(2, endpoint(1), 1)).isNotEqualTo(ContextSlab.NONE);
        assertThat(slab.acquire(3, endpoint(1), 1)).isEqualTo(ContextSlab.NONE);
        assertThat(slab.inFlight()).isEqualTo(2);
        assertThat(slab.timesFull()).isEqualTo(1);
    }

    @Test
    void contextsThatAreNotOursAreNotInFlight() {
        ContextSlab slab = new ContextSlab(arena, 4);
        long context = slab.acquire(1, endpoint(1), 1);

        assertThat(slab.isInFlight(context)).isTrue();
        assertThat(slab.isInFlight(0)).isFalse();
        assertThat(slab.isInFlight(-1)).isFalse();
        assertThat(slab.isInFlight(context + 8)).as("inside a slot").isFalse();
        assertThat(slab.isInFlight(context - ContextSlab.CONTEXT_SIZE)).isFalse();
        assertThat(slab.isInFlight(context + 4 * ContextSlab.CONTEXT_SIZE)).isFalse();
        slab.release(context);
        assertThat(slab.isInFlight(context)).as("a slot that is free").isFalse();
    }

    @Test
    void silentOperationsAreInFlightAsOthersAre() {
        ContextSlab slab = new ContextSlab(arena, 4);
        long silent = slab.acquire(1, endpoint(ContextSlab.MAX_NUMBER) | ContextSlab.SILENT, 3);
        long other = slab.acquire(2, endpoint(ContextSlab.MAX_NUMBER), 3);

        assertThat(slab.isSilent(silent)).isTrue();
        assertThat(slab.isSilent(other)).isFalse();
        assertThat(slab.isInFlight(silent)).isTrue();
        assertThat(slab.inFlightOfRegion(3)).isEqualTo(2);
        assertThat(slab.inFlightOfEndpoint(ContextSlab.MAX_NUMBER)).isEqualTo(2);
        slab.release(silent);
        assertThat(slab.isSilent(silent)).isFalse();
    }

    @Test
    void contextsStartOnCacheLinesAndDoNotOverlap() {
        ContextSlab slab = new ContextSlab(arena, 3);
        Set<Long> contexts = new TreeSet<>();

        for (int slot = 0; slot < 3; slot++) {
            long context = slab.acquire(slot, endpoint(1), 1);
            assertThat(context % 64).isZero();
            contexts.add(context);
        }
        assertThat(contexts).hasSize(3);
        for (long context : contexts) {
            assertThat(contexts.stream().filter(other -> Math.abs(other - context) < ContextSlab.CONTEXT_SIZE))
                    .hasSize(1);
        }
    }

    @Test
    void anEndpointsOperationsAreReleasedTogether() {
        ContextSlab slab = new ContextSlab(arena, 8);
        for (int i = 0; i < 8; i++) {
            slab.acquire(i, endpoint(i % 2 == 0 ? 5 : ContextSlab.MAX_NUMBER), 7 + i % 2);
        }
        assertThat(slab.inFlightOfRegion(7)).isEqualTo(4);

        assertThat(release(slab, 5)).containsExactlyInAnyOrder(0L, 2L, 4L, 6L);
        assertThat(slab.inFlight()).isEqualTo(4);
        assertThat(slab.inFlightOfRegion(7)).isZero();
        assertThat(slab.inFlightOfRegion(8)).isEqualTo(4);
        assertThat(release(slab, 5)).isEmpty();
        assertThat(release(slab, ContextSlab.MAX_NUMBER)).containsExactlyInAnyOrder(1L, 3L, 5L, 7L);
    }

    private static List<Long> release(ContextSlab slab, int endpoint) {
        return Arrays.stream(slab.closeEndpoint(endpoint)).mapToObj(context -> {
            long token = slab.token(context);
            slab.release(context);
            return token;
        }).toList();
    }

    @RepeatedTest(20)
    void tokensComeBackWhateverTheOrder() {
        ContextSlab slab = new ContextSlab(arena, 1 + random.nextInt(50));
        Map<Long, Long> expected = new HashMap<>();
        for (int step = 0; step < 2000; step++) {
            if (random.nextBoolean() && expected.size() < slab.capacity()) {
                long token = random.nextLong();
                expected.put(slab.acquire(token, endpoint(1 + random.nextInt(3)), 1), token);
            } else if (!expected.isEmpty()) {
                long context = expected.keySet().stream().skip(random.nextInt(expected.size())).findFirst().get();
                assertThat(slab.isInFlight(context)).isTrue();
                assertThat(slab.token(context)).isEqualTo(expected.remove(context));
                slab.release(context);
            }
            assertThat(slab.inFlight()).isEqualTo(expected.size());
        }
    }
}
