package io.ofi4j.conformance.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.rules.RuleTrials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tables of the guide are made of the reports in core/guide/reports. With {@code -Dofi4j.calls.write=true} they are
 * written anew.
 */
@Tag("once")
class CallDocumentTest {
    private static final Path CALLS = Path.of("../guide/CALLS.md");
    private static final Path PROVIDERS = Path.of("../guide/PROVIDERS.md");
    private static final List<CommittedReport> REPORTS = CommittedReport.all();

    /** What a report says of the machine only if it is asked for names. */
    private static final List<String> NAMES = List.of("host", "user", "domain", "fabric", "address", "library",
            "device name");
    private static final Pattern INTERNET_ADDRESS = Pattern.compile("\\b\\d{1,3}(\\.\\d{1,3}){3}\\b");
    private static final Pattern PATH = Pattern.compile("(?<![\\w<])/(home|root|usr|opt|tmp|var|work|mnt)/");

    static Stream<CommittedReport> reports() { return REPORTS.stream(); }

    private static void holds(Path document, String name, String text) {
        GeneratedPart part = new GeneratedPart(document, name);
        if (Boolean.getBoolean("ofi4j.calls.write")) { part.write(text); }
        assertThat(new GeneratedPart(document, name).current())
                .as("the part '%s' of %s; -Dofi4j.calls.write=true writes it anew", name, document).isEqualTo(text);
    }

    @Test
    void theTableOfCallsIsWhatTheReportsSay() {
        holds(CALLS, "calls", new CallTable(REPORTS).render("call", List.copyOf(NativeTrials.all().keySet())));
    }

    @Test
    void theTableOfRulesIsWhatTheReportsSay() {
        List<CommittedReport> withRules = REPORTS.stream().filter(report -> !report.subject().isOfDatagrams()).toList();
        List<String> rules = RuleTrials.BY_PAGE.values().stream().flatMap(page -> page.keySet().stream()).toList();
        holds(CALLS, "rules", new CallTable(withRules).render("rule", rules));
    }

    @Test
    void theListOfReportsSaysWhoSawWhatAndWhen() {
        StringBuilder text = new StringBuilder("| Provider | libfabric | What came | Device | Machine | Seen on |\n")
                .append("| --- | --- | --- | --- | --- | --- |\n");
        new CallTable(REPORTS).columns().values()
                .forEach(column -> column.forEach(report -> text.append("| `").append(report.subject().label())
                        .append("` | ").append(CallTable.link(report)).append(" | ").append(counts(report))
                        .append(" | ").append(device(report)).append(" | ").append(machine(report)).append(" | ")
                        .append(report.day()).append(" |\n")));
        holds(PROVIDERS, "reports", text.toString());
    }

    private static String counts(CommittedReport report) {
        Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
        report.rows().values().forEach(row -> counts.merge(row.outcome(), 1, Integer::sum));
        return counts.entrySet().stream().map(count -> count.getValue() + " "
                + (count.getKey() == Outcome.WORKS && count.getValue() != 1 ? "work" : count.getKey().toString()))
                .collect(Collectors.joining(", "));
    }

    private static String device(CommittedReport report) {
        return Stream.of("device", "firmware", "link").map(report.about()::get).filter(text -> text != null)
                .collect(Collectors.joining("; ")).replaceFirst("^$", "–");
    }

    private static String machine(CommittedReport report) {
        Map<String, String> about = report.about();
        return String.join("; ", about.get("machine"), about.get("system"), about.get("kernel"),
                "Java " + about.get("Java"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("reports")
    void aReportIsNamedAfterItsProviderAndVersion(CommittedReport report) {
        String provider = report.subject().label().replaceAll("[^A-Za-z0-9]+", "-");

        assertThat(report.name())
                .matches(Pattern.quote(provider + "-" + report.version()) + "(\\.\\d+)?-[a-z0-9_-]+\\.json");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("reports")
    void aReportNamesNeitherHostNorUserNorAddressNorFile(CommittedReport report) throws IOException {
        String text = Files.readString(report.file());

        assertThat(report.about()).doesNotContainKeys(NAMES.toArray(String[]::new));
        assertThat(INTERNET_ADDRESS.matcher(text).results().map(MatchResult::group)).isSubsetOf("127.0.0.1", "0.0.0.0");
        assertThat(PATH.matcher(text).results().map(MatchResult::group)).isEmpty();
    }
}
