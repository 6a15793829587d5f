package io.ofi4j.conformance.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.fail;

import io.ofi4j.Libfabric;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import io.ofi4j.conformance.rules.RuleTrials;
import io.ofi4j.info.Version;
import io.ofi4j.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tries every call over every provider, and holds the reports in core/guide/reports, of which the table in
 * core/guide/CALLS.md is made, to what happened.
 */
@Tag("gate")
@Timeout(300)
class CallTableTest {
    private static final Map<String, Trial> TRIALS = NativeTrials.all();
    private static final Map<List<String>, String> OUTCOMES = new LinkedHashMap<>();
    /** Of trials that are known to fail: those that wait in vain do it for a twentieth of this. */
    private static final Duration PATIENCE = Patience.seconds(20);
    private static Version version;

    @BeforeAll
    static void whichLibfabric() { version = Libfabric.load().version(); }

    static Stream<Arguments> trials() {
        return Columns.here().flatMap(column -> TRIALS.keySet().stream().filter(call -> CallTrials.tries(column, call))
                .map(call -> Arguments.of(call, column)));
    }

    @ParameterizedTest(name = "{0} over {1}")
    @MethodSource("trials")
    void theCallDoesWhatItsManPageSaysOrIsNotOffered(String call, Subject column) throws Exception {
        Optional<UpstreamFailures.Failure> failure = UpstreamFailures.of(call, column, version);
        if (failure.isPresent()) { fails(call, failure.get(), failure.get().within(column.within(PATIENCE))); }
        String outcome = failure.isPresent() ? failure.get().reason() : mark(call, column);
        OUTCOMES.put(List.of(call, UpstreamFailures.column(column)), outcome);
    }

    /** One line for each column, of what did not fail the tests. */
    @AfterAll
    static void countOutcomes() {
        OUTCOMES.keySet().stream().map(List::getLast).distinct().forEach(column -> {
            List<String> outcomes = OUTCOMES.entrySet().stream()
                    .filter(entry -> entry.getKey().getLast().equals(column)).map(Map.Entry::getValue).toList();
            long works = outcomes.stream().filter(CallTable.WORKS::equals).count();
            long absent = outcomes.stream().filter(CallTable.NOT_OFFERED::equals).count();
            long refused = outcomes.stream().filter(outcome -> outcome.contains("; ofi4j refuses ")).count();
            System.out.printf("calls over %s: %d work, %d are refused, %d fail as libfabric does, %d are not offered%n",
                    column, works, refused, outcomes.size() - works - absent - refused, absent);
        });
    }

    @Test
    void everyFailureIsOfATrialAndAColumnOfTheTable() {
        Set<String> trials = new HashSet<>(TRIALS.keySet());
        RuleTrials.BY_PAGE.values().forEach(page -> trials.addAll(page.keySet()));
        UpstreamFailures.all().forEach(failure -> {
            assertThat(trials).contains(failure.call());
            assertThat(failure.column())
                    .isIn(Stream.of(Columns.LABELS, Columns.WITHOUT_COLUMN).flatMap(List::stream).toList());
        });
    }

    /** Tries what is known to fail: one that works by now, or fails otherwise, fails the test. */
    private static void fails(String call, UpstreamFailures.Failure failure, Subject column) {
        Throwable end = catchThrowable(() -> TRIALS.get(call).run(column));
        if (end == null) { fail("%s works over %s: take it out of UpstreamFailures", call, column); }
        if (!failure.isShownBy(end)) {
            fail("%s fails over %s otherwise than UpstreamFailures say: %s".formatted(call, column, failure), end);
        }
    }

    /** Tries it; a trial that fails otherwise than by not being offered, or refused, fails the test. */
    private static String mark(String call, Subject column) throws Exception {
        try {
            TRIALS.get(call).run(column);
            return CallTable.WORKS;
        } catch (Untried e) {
            return Assumptions.abort(e.getMessage());
        } catch (RuntimeException e) {
            Outcome outcome = Result.outcome(e);
            if (outcome == Outcome.NOT_OFFERED) { return CallTable.NOT_OFFERED; }
            if (outcome == Outcome.REFUSED) { return CallTable.REFUSED; }
            throw e;
        }
    }

    /** Each cell is as a report says that is of this provider and version, if there is one. */
    @AfterAll
    static void theReportsSayTheSame() {
        List<CommittedReport> reports = CommittedReport.all().stream()
                .filter(report -> report.version().equals(version)).toList();
        List<String> others = new ArrayList<>();
        OUTCOMES.forEach((key, outcome) -> {
            Set<String> said = reports.stream().filter(report -> report.column().equals(key.getLast()))
                    .map(report -> report.mark(key.getFirst())).filter(mark -> !mark.equals(CallTable.UNKNOWN))
                    .collect(Collectors.toSet());
            if (!said.isEmpty() && !said.contains(outcome)) {
                others.add(
                        key.getFirst() + " over " + key.getLast() + ": " + outcome + " here, and in reports " + said);
            }
        });
        OUTCOMES.keySet().stream().map(List::getLast).distinct()
                .filter(column -> reports.stream().noneMatch(report -> report.column().equals(column)))
                .forEach(column -> System.out
                        .printf("there is no report of %s with libfabric %s: nothing is compared%n", column, version));
        assertThat(others).as("what differs from core/guide/reports, in which 'ofi4j verify --json' writes what is so")
                .isEmpty();
    }
}
