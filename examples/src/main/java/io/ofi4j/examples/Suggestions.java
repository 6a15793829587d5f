package io.ofi4j.examples;

import io.ofi4j.Libfabric;
import io.ofi4j.NoProviderException;
import java.util.Collection;
import java.util.Comparator;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** What the user may have meant, as the end of a sentence. */
final class Suggestions {
    private static final int MOST_CHANGES = 2;

    private Suggestions() {}

    /** {@return the nearest of what there is, as a question, or nothing where it is there itself} */
    static String of(String typed, Collection<String> possible) {
        if (possible.contains(typed)) { return ""; }
        return possible.stream().filter(name -> changes(typed, name) <= MOST_CHANGES)
                .min(Comparator.comparingInt(name -> changes(typed, name)))
                .map(name -> ": did you mean '" + name + "'?").orElse("");
    }

    static String of(CommandLine.ParameterException failure) {
        if (!(failure instanceof UnmatchedArgumentException unmatched) || unmatched.getUnmatched().isEmpty()) {
            return "";
        }
        String typed = unmatched.getUnmatched().getFirst();
        var spec = failure.getCommandLine().getCommandSpec();
        return of(typed, typed.startsWith("-") ? spec.optionsMap().keySet() : spec.subcommands().keySet());
    }

    static String of(Exception failure, CommandLine command) {
        OptionSpec provider = command.getCommandSpec().findOption("--provider");
        return failure instanceof NoProviderException && provider != null && provider.getValue() instanceof String typed
                ? of(typed, Libfabric.load().providers())
                : "";
    }

    /** {@return how many letters are to be inserted, left out or replaced; after Levenshtein} */
    private static int changes(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            int diagonal = i;
            for (int j = 0; j < row.length; j++) {
                int above = row[j];
                row[j] = i == 0 || j == 0
                        ? i + j
                        : Math.min(Math.min(above, row[j - 1]) + 1,
                                diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1));
                diagonal = above;
            }
        }
        return row[other.length()];
    }
}
