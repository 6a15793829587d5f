package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Columns;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the table says of a rate in two directions, each of which is to reach it, and of a narrow terminal. */
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
        TableReport report = new TableReport(new PrintWriter(text), Columns.UNLIMITED);
        report.header(new Header(settings, TRAITS, "127.0.0.1"));
        report.row(new Row(8, 200, 1e9 / operationsPerSecond, Latencies.histogram(), Optional.empty(),
                OptionalLong.empty(), 0));

        assertThat(text.toString()).contains("rate 1000 operations per second in each direction.");
        assertThat(text.toString().contains("the rate was not reached")).isEqualTo(isSaid);
    }

    private static List<String> table(int columns, boolean verify, int operations) {
        return table(columns, verify, operations, 1500);
    }

    private static List<String> table(int columns, boolean verify, int operations, long nanos) {
        Settings settings = new Reverse(List.of(8L), OptionalLong.of(100), OptionalLong.empty(), OptionalLong.empty(),
                OptionalLong.empty(), 64, false, verify).settings(Operation.WRITE, TRAITS, Duration.ofSeconds(10));
        StringWriter text = new StringWriter();
        TableReport report = new TableReport(new PrintWriter(text), columns);
        report.header(new Header(settings, TRAITS, "127.0.0.1"));
        var latencies = Latencies.histogram();
        latencies.recordValueWithCount(nanos, operations);
        report.row(new Row(8, operations, 1000, latencies, Optional.empty(),
                verify ? OptionalLong.of(operations) : OptionalLong.empty(), 0));
        return text.toString().lines().toList();
    }

    @ParameterizedTest
    @CsvSource({"80, false", "80, true", "100, true", "130, false"})
    void noLineIsLongerThanTheTerminalIsWide(int columns, boolean verify) {
        assertThat(table(columns, verify, 5000))
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(columns));
    }

    @Test
    void columnsGiveWayAndTheMostImportantOnesStay() {
        List<String> narrow = table(80, true, 5000);

        assertThat(narrow.get(narrow.size() - 2).strip().split("  +")).containsExactly("size B", "ns/op", "p50 us",
                "p99 us", "MB/s", "verified", "errors");
        assertThat(narrow.getLast().strip().split(" +")).containsExactly("8", "1000.0", "1.500", "1.500", "8.00",
                "5000", "0");
        assertThat(table(Columns.UNLIMITED, true, 5000).getLast().strip().split(" +")).hasSize(14);
    }

    /** Of a machine that is busy, or an operation that waited for long. */
    @ParameterizedTest
    @ValueSource(longs = {99_998_999, 99_999_999, 100_000_000, 50_000_000_000L})
    void longTimesStayInTheirColumns(long nanos) {
        List<String> lines = table(Columns.UNLIMITED, true, 5000, nanos);

        assertThat(lines.getLast()).hasSameSizeAs(lines.get(lines.size() - 2));
    }

    @Test
    void aPercentileOfTooFewOperationsIsNotSaid() {
        List<String> cells = List.of(table(Columns.UNLIMITED, false, 5).getLast().strip().split(" +"));

        assertThat(cells.subList(5, 8)).containsExactly("1.500", "-", "-");
    }
}
