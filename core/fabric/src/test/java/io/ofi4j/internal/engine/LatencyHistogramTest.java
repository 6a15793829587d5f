package io.ofi4j.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ofi4j.support.TestSeed;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Percentiles of times, beside those of a sorted array. */
@Tag("once")
class LatencyHistogramTest {
    private static final int COUNT = 10_000;

    @Test
    void percentilesAreExactToAThirtySecondPart() {
        Random random = TestSeed.random("percentilesAreExactToAThirtySecondPart");
        LatencyHistogram counts = new LatencyHistogram();
        long[] all = new long[COUNT];
        for (int at = 0; at < COUNT; at++) {
            all[at] = random.nextLong(1L << 1 + random.nextInt(39));
            counts.add(all[at]);
        }
        Arrays.sort(all);
        assertThat(counts.count()).isEqualTo(COUNT);
        assertThat(counts.min()).isEqualTo(all[0]);
        assertThat(counts.max()).isEqualTo(all[COUNT - 1]);
        assertThat(counts.mean()).isCloseTo(Arrays.stream(all).average().orElseThrow(), within(1e-3));
        for (double percent : new double[]{1, 10, 25, 50, 90, 99, 99.9, 100}) {
            long exact = all[(int) Math.ceil(percent / 100 * COUNT) - 1];
            assertThat(counts.percentile(percent)).as(percent + " %").isBetween(exact, exact + exact / 32);
        }
    }

    @Test
    void smallNumbersAreExact() {
        for (long value = 0; value < 64; value++) {
            LatencyHistogram counts = new LatencyHistogram();
            counts.add(value);
            counts.add(100);
            assertThat(counts.percentile(50)).isEqualTo(value);
        }
    }

    @Test
    void whatTakesLongestIsCountedToo() {
        LatencyHistogram counts = new LatencyHistogram();
        counts.add(Long.MAX_VALUE);
        assertThat(counts.count()).isEqualTo(1);
        assertThat(counts.max()).isEqualTo(Long.MAX_VALUE);
        assertThat(counts.percentile(50)).isPositive();
    }

    @Test
    void nothingIsZero() {
        LatencyHistogram counts = new LatencyHistogram();
        assertThat(counts.min()).isZero();
        assertThat(counts.max()).isZero();
        assertThat(counts.mean()).isZero();
        assertThat(counts.percentile(99)).isZero();
    }
}
