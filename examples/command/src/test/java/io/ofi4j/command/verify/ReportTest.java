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

/** What a report says of a run that was cut short. */
@Tag("once")
class ReportTest {
    private final Report report = new Report("ofi4j verify", Map.of());

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

    @Test
    void whereNothingElseIsThereNothingWasTried() {
        assertThat(report.verdict()).isEqualTo(FindingKind.UNTRIED);
        assertThat(report.obstacle()).isEqualTo("time was up");
    }
}
