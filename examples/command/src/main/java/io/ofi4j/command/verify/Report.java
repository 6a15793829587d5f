package io.ofi4j.command.verify;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.ofi4j.command.verify.Measurements.Measurement;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.run.QuirkRun;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What was tried and what came of it, as a table, as JSON and as Markdown. */
final class Report {
    private static final int NAME_WIDTH = 54;
    private static final long MILLION = 1_000_000;
    private static final Gson COMPACT = new GsonBuilder().disableHtmlEscaping().create();
    private static final Gson INDENTED = COMPACT.newBuilder().setPrettyPrinting().create();

    private final String kind;
    private final Map<String, String> facts;
    private final boolean withNames;
    private final List<Result> results = new ArrayList<>();
    private final List<QuirkRun.Finding> quirks = new ArrayList<>();
    private final List<Measurement> measurements = new ArrayList<>();
    private Optional<CallCosts> costs = Optional.empty();
    private boolean interrupted;
    private boolean cut;

    /**
     * A report without results.
     *
     * @param kind the command that makes it
     * @param facts what is said of the machine
     * @param withNames whether host, user, addresses and files are named
     */
    Report(String kind, Map<String, String> facts, boolean withNames) {
        this.withNames = withNames;
        this.kind = kind;
        this.facts = facts;
    }

    void add(Result result) {
        results.add(new Result(result.page(), result.name(), result.outcome(), allowed(result.text()), result.time()));
    }

    void add(QuirkRun.Finding finding) {
        quirks.add(new QuirkRun.Finding(finding.quirk(), finding.isNeeded(), allowed(finding.text())));
    }

    /** Providers, libraries and the JDK say names in what they say of a failure. */
    private String allowed(String text) {
        return withNames ? text : Machine.withoutNames(text);
    }

    void add(Measurement measurement) { measurements.add(measurement); }

    void add(CallCosts measured) { costs = Optional.of(measured); }

    List<Result> results() { return List.copyOf(results); }

    void interrupted() { interrupted = true; }

    /** Time was up before all was measured. */
    void cut() { cut = true; }

    /** {@return what the last line says} */
    FindingKind verdict() {
        if (interrupted) { return FindingKind.INTERRUPTED; }
        if (hasWrongs()) { return FindingKind.WRONG; }
        boolean isTried = !measurements.isEmpty() || costs.isPresent()
                || results.stream().anyMatch(result -> result.outcome() != Outcome.UNTRIED);
        return isTried ? FindingKind.RIGHT : FindingKind.UNTRIED;
    }

    /** {@return why nothing was tried} */
    String obstacle() {
        return results.isEmpty() ? "these pages have no trial for it" : results.getFirst().text();
    }

    boolean hasWrongs() { return results.stream().anyMatch(result -> result.outcome().isWrong()); }

    /** What a person reads of the machine. */
    String heading() {
        return facts.entrySet().stream().map(fact -> "%-14s %s".formatted(fact.getKey(), fact.getValue()))
                .collect(Collectors.joining("\n"));
    }

    /** What a person reads of one result. */
    static String line(Result result) {
        String line = "  %-" + NAME_WIDTH + "s %s";
        return line.formatted(result.name(), result.outcome()) + (result.text().isEmpty() ? "" : ": " + result.text());
    }

    /** What a person reads of a quirk. */
    static String line(QuirkRun.Finding finding) {
        return "  %-28s %-12s %s".formatted(finding.quirk(), words(finding), finding.text());
    }

    private static String words(QuirkRun.Finding finding) {
        return finding.isNeeded().map(isNeeded -> isNeeded ? "needed" : "not needed").orElse("not shown");
    }

    /** Of how many trials of a page what came. */
    String pageLine(String page) {
        String counts = counts(results.stream().filter(result -> result.page().equals(page)));
        return "%-20s %s".formatted(page, counts.isEmpty() ? "no trial for it" : counts);
    }

    static String counts(Stream<Result> of) {
        Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
        of.forEach(result -> counts.merge(result.outcome(), 1L, Long::sum));
        return counts.entrySet().stream().map(entry -> entry.getValue() + " " + words(entry))
                .collect(Collectors.joining(", "));
    }

    private static String words(Map.Entry<Outcome, Long> count) {
        return count.getKey() == Outcome.WORKS && count.getValue() != 1 ? "work" : count.getKey().toString();
    }

    /** The last line. */
    String summary() {
        if (results.isEmpty()) {
            return "no call was tried"
                    + (measurements.isEmpty() ? "" : ", and " + measurements.size() + " measurements were made");
        }
        String counts = counts(results.stream());
        if (interrupted) { return "interrupted after " + results.size() + " trials: " + counts; }
        long left = results.stream().filter(Result::isCut).count();
        String timeUp = "time was up after " + (results.size() - left) + " of " + results.size() + " trials: ";
        if (hasWrongs()) { return "something is wrong: " + (left == 0 ? "" : timeUp) + counts; }
        return (left == 0 ? "nothing is wrong: " : timeUp) + counts;
    }

    /** One line for each result, so that two reports can be compared by line. */
    String json() {
        JsonObject about = new JsonObject();
        facts.forEach(about::addProperty);
        StringBuilder text = new StringBuilder("{\n  \"report\": \"" + kind + "\",\n  \"about\": ")
                .append(INDENTED.toJson(about).replace("\n", "\n  ")).append(",\n  \"wrong\": ").append(hasWrongs())
                .append(",\n  \"complete\": ").append(isComplete()).append(",\n  \"results\": ")
                .append(lines(results.stream().map(Report::json))).append(",\n  \"quirks\": ")
                .append(lines(quirks.stream().map(Report::json))).append(",\n  \"measurements\": ")
                .append(lines(measurements.stream().map(COMPACT::toJsonTree)));
        costs.ifPresent(measured -> text.append(",\n  \"nanosecondsOfCalls\": ").append(COMPACT.toJson(measured)));
        return text.append("\n}\n").toString();
    }

    private boolean isComplete() { return !interrupted && !cut && results.stream().noneMatch(Result::isCut); }

    private static JsonElement json(Result result) {
        JsonObject row = new JsonObject();
        row.addProperty("page", result.page());
        row.addProperty("name", result.name());
        row.addProperty("outcome", result.outcome().name());
        if (!result.text().isEmpty()) { row.addProperty("text", result.text()); }
        return row;
    }

    private static JsonElement json(QuirkRun.Finding finding) {
        JsonObject row = new JsonObject();
        row.addProperty("quirk", finding.quirk());
        row.addProperty("state", words(finding));
        row.addProperty("text", finding.text());
        return row;
    }

    private static String lines(Stream<JsonElement> elements) {
        List<String> lines = elements.map(element -> "    " + COMPACT.toJson(element)).toList();
        return lines.isEmpty() ? "[]" : "[\n" + String.join(",\n", lines) + "\n  ]";
    }

    String markdown() {
        StringBuilder text = new StringBuilder("# ").append(kind).append(": ")
                .append(facts.getOrDefault("provider", facts.get("card"))).append(", libfabric ")
                .append(facts.get("libfabric")).append("\n\n| | |\n| --- | --- |\n");
        facts.forEach((name, value) -> text.append("| ").append(name).append(" | ").append(cell(value)).append(" |\n"));
        text.append("\n**").append(summary()).append("**\n");
        Map<String, List<Result>> pages = results.stream()
                .collect(Collectors.groupingBy(Result::page, LinkedHashMap::new, Collectors.toList()));
        pages.forEach((page, ofPage) -> {
            text.append("\n## ").append(page).append("\n\n| | outcome | | ms |\n| --- | --- | --- | --- |\n");
            ofPage.forEach(result -> text.append("| `").append(cell(result.name())).append("` | ")
                    .append(result.outcome()).append(" | ").append(cell(result.text())).append(" | ")
                    .append(result.time().toNanos() / MILLION).append(" |\n"));
        });
        if (!quirks.isEmpty()) {
            text.append("\n## Quirks\n\n| quirk | | |\n| --- | --- | --- |\n");
            quirks.forEach(finding -> text.append("| `").append(finding.quirk()).append("` | ").append(words(finding))
                    .append(" | ").append(cell(finding.text())).append(" |\n"));
        }
        if (!measurements.isEmpty()) {
            text.append(
                    "\n## Performance\n\nBoth ends in one process.\n\n| operation | bytes | in flight | median | p99 |"
                            + " a second | MB/s |\n| --- | --- | --- | --- | --- | --- | --- |\n");
            measurements.forEach(one -> text.append(String.format(Locale.ROOT,
                    "| %s | %d | %d | %.2f µs | %.2f µs | %.0f | %.1f |%n", one.operation(), one.size(), one.window(),
                    one.p50() / 1e3, one.p99() / 1e3, one.perSecond(), one.megabytes())));
        }
        costs.ifPresent(
                measured -> text.append("\nCalls, in one thread: ").append(measured.toString().strip()).append(".\n"));
        return text.toString();
    }

    private static String cell(String text) { return text.replace("|", "\\|"); }
}
