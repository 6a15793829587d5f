package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The latencies of an open loop as HdrHistogram corrects them. */
@Tag("once")
class OpenLoopTest {
    private static Histogram latencies(long... nanos) {
        Histogram latencies = Latencies.histogram();
        for (long each : nanos) {
            Latencies.record(latencies, each);
        }
        return latencies;
    }

    @Test
    void latenciesAreCorrectedAsHdrHistogramDoes() {
        Histogram latencies = latencies(0, 9, 10, 19, 20, 21, 1234, 1234, 50_000);

        assertThat(new OpenLoop.FromPost(10, latencies).corrected())
                .isEqualTo(latencies.copyCorrectedForCoordinatedOmission(10));
    }

    @Test
    @Timeout(300)
    void aLongPauseAtTheHighestRateIsCorrectedInTime() {
        Histogram corrected = new OpenLoop.FromPost(1, latencies(1000, 50_000_000_000L)).corrected();

        assertThat(corrected.getTotalCount()).isCloseTo(50_000_000_000L, within(100_000_000L));
        assertThat(corrected.getValueAtPercentile(50)).isCloseTo(25_000_000_000L, within(50_000_000L));
    }
}
