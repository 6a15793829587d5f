package io.ofi4j.command.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.OpenObjectsMXBean.OpenDomain;
import io.ofi4j.info.OpenObjectsMXBean.OpenQueue;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rates between two samples, whatever the interval was to be. */
@Tag("once")
class SampleTest {
    private static final long FIRST = 7_000_000_000L;

    private static OpenQueue queue(long id, long completed) {
        return new OpenQueue(id, 64, new CompletionQueueStatistics(completed, 0, 0, 0, 0, 0));
    }

    private static Sample sample(long nanos, OpenQueue... queues) {
        return new Sample(nanos, "2.1", List.of(new OpenDomain(1, "shm", "shm", "shm", "DOMAIN",
                new DomainStatistics(0, 0, 0), List.of(queues), List.of())));
    }

    private static double rate(Sample.Rates rates, OpenQueue queue) {
        return rates.of(queue, one -> one.statistics().completed());
    }

    @Test
    void aRateIsOfTheTimeThatWasMeasured() {
        OpenQueue now = queue(2, 350);
        Sample.Rates rates = sample(FIRST + 2_500_000_000L, now).since(sample(FIRST, queue(2, 100)));

        assertThat(rates.seconds()).isEqualTo(2.5);
        assertThat(rate(rates, now)).isEqualTo(100);
    }

    @Test
    void anObjectThatIsNewCountsFromZero() {
        OpenQueue now = queue(3, 50);

        assertThat(rate(sample(FIRST + 500_000_000L, now).since(sample(FIRST, queue(2, 100))), now)).isEqualTo(100);
    }

    @Test
    void aCountThatFellIsNoRate() {
        OpenQueue now = queue(2, 50);

        assertThat(rate(sample(FIRST + 500_000_000L, now).since(sample(FIRST, queue(2, 100))), now)).isZero();
    }
}
