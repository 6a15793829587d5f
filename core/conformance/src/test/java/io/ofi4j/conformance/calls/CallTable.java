package io.ofi4j.conformance.calls;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table of core/guide/CALLS.md, made from reports: a row for each trial, and a column for each provider. The head of
 * a column links its reports; a cell has one mark if they all agree, or a mark for each. Reasons are footnotes.
 */
final class CallTable {
    static final String WORKS = "✓";
    static final String NOT_OFFERED = "–";
    static final String NOT_TRIED = "·";
    static final String UNKNOWN = "?";
    /** Of what no reason is known. */
    static final String REFUSED = "ofi4j [refuses](REFUSALS.md) it.";

    private static final int WIDTH = 118;
    private static final int INDENT = 3;
    private static final List<String> MARKS = List.of(WORKS, NOT_OFFERED, NOT_TRIED, UNKNOWN);

    private final Map<String, List<CommittedReport>> columns = new LinkedHashMap<>();
    private final List<String> reasons = new ArrayList<>();

    CallTable(List<CommittedReport> reports) {
        Map<String, List<CommittedReport>> found = reports.stream()
                .collect(Collectors.groupingBy(CommittedReport::column));
        Stream.concat(Columns.LABELS.stream(), found.keySet().stream().sorted()).distinct().filter(found::containsKey)
                .forEach(label -> columns.put(label, found.get(label)));
    }

    /** The columns in their order, with their reports. */
    Map<String, List<CommittedReport>> columns() {
        return columns;
    }

    String render(String what, List<String> trials) {
        StringBuilder text = new StringBuilder("| ").append(what).append(" |");
        columns.forEach((label, reports) -> text.append(" `").append(label).append("`<br>")
                .append(joined(reports, CallTable::link)).append(" |"));
        text.append("\n| --- |").append(" --- |".repeat(columns.size())).append('\n');
        for (String trial : trials) {
            if (!isReported(trial)) { continue; }
            text.append("| ").append(CallTrials.ALL.containsKey(trial) ? "`" + trial + "`" : trial).append(" |");
            columns.values().forEach(reports -> text.append(' ').append(marks(trial, reports)).append(" |"));
            text.append('\n');
        }
        text.append(reasons.isEmpty() ? "" : "\n");
        for (int i = 0; i < reasons.size(); i++) {
            text.append(wrapped(i + 1 + ". " + reasons.get(i))).append('\n');
        }
        return text.toString();
    }

    /** Whether any report has it: those of earlier releases lack the trials that are newer. */
    private boolean isReported(String trial) {
        return columns.values().stream().flatMap(List::stream).anyMatch(report -> !report.mark(trial).equals(UNKNOWN));
    }

    /** In lines of a document; those behind the first are indented, as parts of an item of a list. */
    private static String wrapped(String item) {
        StringBuilder text = new StringBuilder();
        int column = 0;
        for (String word : item.split(" ")) {
            if (column > 0 && column + 1 + word.length() > WIDTH) {
                text.append("\n   ");
                column = INDENT;
            }
            text.append(column == 0 ? "" : " ").append(word);
            column += word.length() + 1;
        }
        return text.toString();
    }

    static String link(CommittedReport report) { return "[" + report.version() + "](reports/" + report.name() + ")"; }

    private static String joined(List<CommittedReport> reports, Function<CommittedReport, String> text) {
        return reports.stream().map(text).collect(Collectors.joining(" "));
    }

    private String marks(String trial, List<CommittedReport> reports) {
        boolean isSame = reports.stream().map(report -> report.mark(trial)).distinct().count() == 1;
        return joined(isSame ? reports.subList(0, 1) : reports, report -> number(report.mark(trial)));
    }

    private String number(String mark) {
        if (MARKS.contains(mark)) { return mark; }
        if (!reasons.contains(mark)) { reasons.add(mark); }
        return Integer.toString(reasons.indexOf(mark) + 1);
    }
}
