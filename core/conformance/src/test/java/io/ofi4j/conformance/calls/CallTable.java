package io.ofi4j.conformance.calls;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The table of core/guide/CALLS.md that says which call works with which provider of which libfabric: a cell has a
 * mark for each version that the tests run with, and reasons are footnotes.
 */
final class CallTable {
    /** The versions that have a mark in each cell, in this order. */
    static final List<String> VERSIONS = List.of("1.17", "2.1");
    static final String WORKS = "✓";
    static final String NOT_OFFERED = "–";
    static final String NOT_TRIED = "·";

    private static final String UNKNOWN = "?";
    private static final String BEGIN = "<!-- calls: written by CallTableTest -->";
    private static final String END = "<!-- end of calls -->";

    private final Path file;
    private final String before;
    private final String after;
    private final List<String> calls;
    private final List<String> columns;
    /** By call and column: one mark, or a reason, for each version. */
    private final Map<String, String[]> cells = new LinkedHashMap<>();

    CallTable(Path file, List<String> calls, List<String> columns) {
        this.file = file;
        this.calls = calls;
        this.columns = columns;
        String text = read(file);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalStateException(file + " has no place for the table, between '" + BEGIN + "' and its end");
        }
        this.before = text.substring(0, begin);
        this.after = text.substring(end + END.length());
        parse(text.substring(begin + BEGIN.length(), end));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void parse(String table) {
        List<String> lines = table.lines().filter(line -> line.startsWith("|")).toList();
        if (lines.isEmpty()) { return; }
        List<String> heads = split(lines.getFirst());
        Map<String, String> reasons = table.lines().filter(line -> line.matches("\\d+\\. .*")).collect(Collectors
                .toMap(line -> line.substring(0, line.indexOf('.')), line -> line.substring(line.indexOf(' ') + 1)));
        for (String line : lines.subList(2, lines.size())) {
            List<String> row = split(line);
            for (int column = 1; column < row.size(); column++) {
                String[] marks = row.get(column).split(" ");
                for (int version = 0; version < marks.length; version++) {
                    put(unquote(row.getFirst()), unquote(heads.get(column)), VERSIONS.get(version),
                            reasons.getOrDefault(marks[version], marks[version]));
                }
            }
        }
    }

    private static List<String> split(String row) {
        return Stream.of(row.substring(1, row.length() - 1).split("\\|")).map(String::strip).toList();
    }

    private static String unquote(String text) { return text.replace("`", ""); }

    /** Notes what a call does: {@link #WORKS}, {@link #NOT_OFFERED}, or the reason why it fails. */
    void put(String call, String column, String version, String outcome) {
        String[] marks = cells.computeIfAbsent(call + "|" + column,
                key -> Stream.generate(() -> UNKNOWN).limit(VERSIONS.size()).toArray(String[]::new));
        marks[VERSIONS.indexOf(version)] = outcome;
    }

    String render() {
        List<String> reasons = new ArrayList<>();
        StringBuilder text = new StringBuilder(before).append(BEGIN).append("\n\n| call |");
        columns.forEach(column -> text.append(" `").append(column).append("` |"));
        text.append("\n| --- |").append(" --- |".repeat(columns.size())).append('\n');
        for (String call : calls) {
            text.append("| `").append(call).append("` |");
            for (String column : columns) {
                text.append(' ').append(marks(call, column, reasons)).append(" |");
            }
            text.append('\n');
        }
        text.append('\n');
        for (int i = 0; i < reasons.size(); i++) {
            text.append(i + 1).append(". ").append(reasons.get(i)).append('\n');
        }
        return text.append(reasons.isEmpty() ? "" : "\n").append(END).append(after).toString();
    }

    private String marks(String call, String column, List<String> reasons) {
        String[] outcomes = cells.getOrDefault(call + "|" + column, new String[]{UNKNOWN, UNKNOWN});
        return Stream.of(outcomes).map(outcome -> {
            if (List.of(WORKS, NOT_OFFERED, NOT_TRIED, UNKNOWN).contains(outcome)) { return outcome; }
            if (!reasons.contains(outcome)) { reasons.add(outcome); }
            return Integer.toString(reasons.indexOf(outcome) + 1);
        }).collect(Collectors.joining(" "));
    }

    /** The table as the file has it. */
    String current() { return read(file); }

    void write() {
        try {
            Files.writeString(file, render());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
