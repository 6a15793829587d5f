package io.ofi4j.command.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a report says of a run that was cut short. */
@Tag("once")
class ReportTest {
    private final Report report = new Report("ofi4j verify", Map.of(), false);

    @BeforeEach
    void cutShort() { add(Outcome.UNTRIED, Result.TIME_UP); }

    private void add(Outcome outcome, String text) {
        report.add(new Result("fi_rma(3)", outcome.name(), outcome, text, Duration.ZERO));
    }

    private boolean isComplete() {
        return JsonParser.parseString(report.json()).getAsJsonObject().get("complete").getAsBoolean();
    }

    @Test
    void whatTimeDidNotSufficeForIsInTheLastLine() {
        add(Outcome.WORKS, "");

        assertThat(report.summary()).isEqualTo("time was up after 1 of 2 trials: 1 works, 1 not tried");
        assertThat(report.verdict()).isEqualTo(FindingKind.RIGHT);
        assertThat(isComplete()).isFalse();
    }

    @Test
    void whatIsWrongIsSaidFirst() {
        add(Outcome.WRONG, "");

        assertThat(report.summary()).startsWith("something is wrong: time was up after 1 of 2 trials: ");
        assertThat(report.verdict()).isEqualTo(FindingKind.WRONG);
    }

    @ParameterizedTest
    @CsvSource({"java.nio.file.NoSuchFileException: /home/alice/file.tmp, java.nio.file.NoSuchFileException: <file>",
            "nothing arrives at fi_sockaddr_in://10.1.2.3:4711 (why), nothing arrives at <address> (why)",
            "at 10.1.2.3:4711 and [fe80::1%eth0]:7, at <address> and <address>",
            "SIGSEGV in f of libfabric.so.1.32.0, SIGSEGV in f of libfabric.so.1.32.0",
            "3.5 µs at 12.5 GB/s in 1/2, 3.5 µs at 12.5 GB/s in 1/2"})
    void neitherFileNorAddressIsNamed(String text, String reported) {
        add(Outcome.WRONG, text);

        assertThat(report.results().getLast().text()).isEqualTo(reported);
    }

    @Test
    void whereNothingElseIsThereNothingWasTried() {
        assertThat(report.verdict()).isEqualTo(FindingKind.UNTRIED);
        assertThat(report.obstacle()).isEqualTo("time was up");
    }
}
