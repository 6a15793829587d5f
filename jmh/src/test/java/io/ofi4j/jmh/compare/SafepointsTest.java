package io.ofi4j.jmh.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Libfabric;
import io.ofi4j.errors.NoProviderException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Streams for a moment. How long the safepoints took means nothing. */
@Tag("gate")
class SafepointsTest {
    private static final int COUNT = 20;

    private final StringWriter out = new StringWriter();

    private void run(String provider) { new Safepoints(new PrintWriter(out), COUNT).run(List.of(provider)); }

    @Test
    void aStreamOfSmallAndOneOfLargeWritesHaveARowEachBelowTheConditions() {
        run("shm");
        List<String> lines = out.toString().lines().toList();
        String version = Libfabric.load().version().toString();
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0)).startsWith("libfabric " + version + " on ").contains(" cores, ");
        assertThat(lines.get(1)).contains("Java: ", "threading DOMAIN, progress MANUAL");
        assertThat(lines.get(2).split(" +")).containsExactly("provider", "libfabric", "writes", "of", "B", "window",
                "safepoints", "median", "us", "p99", "us", "max", "us");
        assertRow(lines.get(3), version, "8");
        assertRow(lines.get(4), version, "1048576");
    }

    private static void assertRow(String line, String version, String size) {
        String[] words = line.split(" +");
        assertThat(words).hasSize(8).startsWith("shm", version, size, "16");
        assertThat(Integer.parseInt(words[4])).isGreaterThanOrEqualTo(COUNT);
        double median = Double.parseDouble(words[5]);
        double p99 = Double.parseDouble(words[6]);
        assertThat(median).isPositive();
        assertThat(p99).isGreaterThanOrEqualTo(median);
        assertThat(Double.parseDouble(words[7])).isGreaterThanOrEqualTo(p99);
    }

    @Test
    void aProviderThatIsNotThereIsRefusedBeforeAnythingIsPrinted() {
        assertThatThrownBy(() -> run("carrier-pigeon")).isInstanceOf(NoProviderException.class)
                .hasMessageContainingAll("'carrier-pigeon'", "shm");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aStreamThatFailsSaysWhy() {
        assertThatThrownBy(() -> new Safepoints(new PrintWriter(out), COUNT).reached("carrier-pigeon", 8))
                .isInstanceOf(BenchFailure.class).hasMessageContainingAll("carrier-pigeon", "8 B", "status 1", "shm");
    }
}
