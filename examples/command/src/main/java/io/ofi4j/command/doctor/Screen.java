package io.ofi4j.command.doctor;

import io.ofi4j.command.Columns;
import io.ofi4j.command.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Findings as lines of a terminal: whole, or as much of them as one screen takes. */
final class Screen {
    /** Of the 24 of a terminal, one is for the result and one for the shell's next prompt. */
    static final int LINES = 22;
    private static final String MORE = "    'ofi4j doctor -v' says more";
    private static final String CUT = "...";
    private static final String ARROW = "    -> ";
    private static final int SUBJECT = 25;
    private static final Map<Level, String> MARKS = Map.of(Level.OK, "ok", Level.HINT, " *", Level.PROBLEM, "!!");

    /** What is left out so that the rest fits on a screen, each of them with those before. */
    private enum LeftOut {
        LONG_ENDS, VALUES_OF_WHAT_IS_GOOD, ADVICE_OF_HINTS
    }

    private final LeftOut leftOut;
    private final int columns;
    private final List<String> lines = new ArrayList<>();
    private boolean isAll = true;

    private Screen(LeftOut leftOut, int columns) {
        this.leftOut = leftOut;
        this.columns = columns;
    }

    /** A line of each finding, and another of its advice, as long as they are. */
    static List<String> whole(List<Finding> findings) {
        List<String> lines = new ArrayList<>();
        for (Finding finding : findings) {
            lines.add(line(finding));
            if (!finding.advice().isEmpty()) { lines.add(" ".repeat(SUBJECT) + "-> " + finding.advice()); }
        }
        return lines;
    }

    /** What a screen takes. Problems are said whole, even where they are more than that. */
    static List<String> fitting(List<Finding> findings, int columns) {
        List<String> lines = List.of();
        for (LeftOut leftOut : LeftOut.values()) {
            lines = new Screen(leftOut, columns).print(findings);
            if (lines.size() <= LINES) { return lines; }
        }
        return lines;
    }

    private List<String> print(List<Finding> findings) {
        boolean isFolded = leftOut != LeftOut.LONG_ENDS;
        if (isFolded) { fold(findings.stream().filter(finding -> finding.level() == Level.OK).toList()); }
        for (Finding finding : findings) {
            switch (finding.level()) {
                case OK -> {
                    if (!isFolded) { cut(line(finding)); }
                }
                case HINT -> {
                    cut(line(finding));
                    if (leftOut == LeftOut.ADVICE_OF_HINTS) {
                        isAll = false;
                    } else {
                        wrap(ARROW, finding.advice());
                    }
                }
                case PROBLEM -> {
                    wrap(start(finding), finding.found());
                    wrap(ARROW, finding.advice());
                }
            }
        }
        if (!isAll) { lines.add(MORE); }
        return lines;
    }

    private void fold(List<Finding> good) {
        if (good.isEmpty()) { return; }
        isAll = false;
        wrap(MARKS.get(Level.OK) + "  ", good.stream().map(Finding::subject).collect(Collectors.joining(", ")));
    }

    private void cut(String line) {
        boolean fits = line.length() <= columns;
        isAll &= fits;
        lines.add(fits ? line : line.substring(0, columns - CUT.length()) + CUT);
    }

    /** The lines that follow begin below the text. A word that is longer than a line stays whole. */
    private void wrap(String start, String text) {
        String before = start;
        for (String part : Columns.wrapped(text, columns - start.length())) {
            lines.add((before + part).stripTrailing());
            before = " ".repeat(start.length());
        }
    }

    private static String line(Finding finding) { return start(finding) + finding.found(); }

    private static String start(Finding finding) {
        return String.format("%s  %-20s ", MARKS.get(finding.level()), finding.subject());
    }
}
