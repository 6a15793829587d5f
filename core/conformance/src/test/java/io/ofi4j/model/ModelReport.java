package io.ofi4j.model;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@link ModelRunner} says of the programs of one setting, when all of them have kept the rules.
 *
 * @param setting threading model and number of threads
 * @param kept how many sockets the provider has kept; see {@link ModelDescriptors}
 */
record ModelReport(String setting, long programs, ModelTally tally, long kept, long seconds) {
    static final String HEADER = String.format(Locale.ROOT, "%-14s %-13s %9s %10s %12s %9s %9s %8s %8s", "provider",
            "threading", "programs", "posts", "completions", "failures", "dropped", "sockets", "seconds");
    private static final Pattern LINE = Pattern
            .compile("report (\\S+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+)");

    /** The line that the runner prints. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "report %s %d %d %d %d %d %d %d %d", setting, programs, tally.posts(),
                tally.tokens(), tally.completions(), tally.failures(), tally.dropped(), kept, seconds);
    }

    /** Of such a line. */
    static ModelReport of(String line) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) { throw new AssertionError("not a report: " + line); }
        long[] numbers = new long[matcher.groupCount() + 1];
        for (int group = 2; group < numbers.length; group++) {
            numbers[group] = Long.parseLong(matcher.group(group));
        }
        ModelTally tally = new ModelTally(numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]);
        return new ModelReport(matcher.group(1), numbers[2], tally, numbers[8], numbers[9]);
    }

    /** As a row of a table. */
    String row(String provider) {
        return String.format(Locale.ROOT, "%-14s %-13s %9d %10d %12d %9d %9d %8d %8d", provider, setting, programs,
                tally.posts(), tally.completions(), tally.failures(), tally.dropped(), kept, seconds);
    }
}
