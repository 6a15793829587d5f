package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the table says of a rate in two directions, each of which is to reach it. */
@Tag("once")
class TableReportTest {
    private static final Traits TRAITS = new Traits("shm", "2.1", "shm", "shm", "RDM", "DOMAIN", "MANUAL", 1 << 20,
            4096, 1024);

    @ParameterizedTest
    @CsvSource({"1990, false", "1100, true"})
    void aRateOfEachDirectionIsReachedByBoth(double operationsPerSecond, boolean isSaid) {
        Settings settings = new Reverse(List.of(8L), OptionalLong.of(100), OptionalLong.empty(), OptionalLong.empty(),
                OptionalLong.of(1000), 64, false, false).settings(Operation.WRITE, TRAITS, Duration.ofSeconds(10));
        StringWriter text = new StringWriter();
        TableReport report = new TableReport(new PrintWriter(text));
        report.header(new Header(settings, TRAITS, "127.0.0.1"));
        report.row(new Row(8, 200, 1e9 / operationsPerSecond, Latencies.histogram(), Optional.empty(),
                OptionalLong.empty(), 0));

        assertThat(text.toString()).contains("rate 1000 operations per second in each direction.");
        assertThat(text.toString().contains("the rate was not reached")).isEqualTo(isSaid);
    }
}
