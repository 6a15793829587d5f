package io.ofi4j.command;

import io.ofi4j.Libfabric;
import io.ofi4j.errors.NoProviderException;
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

    /** {@return how many letters are to be inserted, left out, replaced, or swapped with the next one} */
    private static int changes(String one, String other) {
        int[][] changes = new int[one.length() + 1][other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            for (int j = 0; j <= other.length(); j++) {
                if (i == 0 || j == 0) {
                    changes[i][j] = i + j;
                    continue;
                }
                int replaced = changes[i - 1][j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                changes[i][j] = Math.min(replaced, Math.min(changes[i - 1][j], changes[i][j - 1]) + 1);
                if (areSwapped(one, i, other, j)) {
                    changes[i][j] = Math.min(changes[i][j], changes[i - 2][j - 2] + 1);
                }
            }
        }
        return changes[one.length()][other.length()];
    }

    private static boolean areSwapped(String one, int i, String other, int j) {
        return i > 1 && j > 1 && one.charAt(i - 1) == other.charAt(j - 2) && one.charAt(i - 2) == other.charAt(j - 1);
    }
}
