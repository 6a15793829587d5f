package io.ofi4j.command;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.UsageMessageSpec;

/** How many columns a terminal has, and lines that are no longer. */
public final class Columns {
    /** Of what is no terminal: a line may be as long as it needs to be. */
    public static final int UNLIMITED = Integer.MAX_VALUE;
    /** Of a usual terminal. */
    public static final int USUAL = 80;

    private Columns() {}

    /** {@return the number of columns; COLUMNS of the environment says it too, and first} */
    public static int of(Descriptor where) {
        if (!where.isTerminal()) { return UNLIMITED; }
        String asked = System.getenv("COLUMNS");
        return asked != null && asked.matches("[1-9][0-9]{0,3}")
                ? Integer.parseInt(asked)
                : new UsageMessageSpec().autoWidth(true).width();
    }

    /** {@return lines of at most so many columns} A word that is longer stays whole. */
    public static List<String> wrapped(String text, int columns) {
        if (text.length() <= columns) { return List.of(text); }
        Pattern line = Pattern.compile("\\S.{0," + (Math.max(columns, 2) - 1) + "}(?=\\s|$)|\\S+");
        return line.matcher(text).results().map(MatchResult::group).map(String::stripTrailing).toList();
    }
}
