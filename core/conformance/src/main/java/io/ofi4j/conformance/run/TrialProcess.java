package io.ofi4j.conformance.run;

import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.EndpointType;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The main class of a JVM that runs the trials of one page, and prints a line before and a line behind each, and what
 * the far half is to hear in between.
 */
final class TrialProcess {
    static final String BEGINS = "begins";
    private static final String ENDS = "ends";
    /** Where the names of trials begin. */
    private static final int NAMES = 5;
    private static final char SEPARATOR = '\t';

    private TrialProcess() {}

    /**
     * Runs trials.
     *
     * @param arguments provider, type, deadline in milliseconds, address or nothing, page, and the names of trials
     */
    public static void main(String[] arguments) {
        PrintStream out = JavaProcess.answers();
        Subject subject = new Subject(arguments[0], EndpointType.valueOf(arguments[1]),
                Optional.of(arguments[3]).filter(address -> !address.isEmpty()),
                Duration.ofMillis(Long.parseLong(arguments[2])), new Relay(System.in, out));
        Map<String, Trial> trials = Catalogue.trials(arguments[4], subject);
        for (String name : List.of(arguments).subList(NAMES, arguments.length)) {
            out.println(BEGINS);
            Result result = Result.of(arguments[4], name, trials.get(name), subject);
            out.println(ENDS + SEPARATOR + result.outcome().name() + SEPARATOR + result.time().toNanos() + SEPARATOR
                    + result.text().replaceAll("\\s+", " "));
        }
    }

    static List<String> arguments(Subject subject, String page, List<String> names) {
        List<String> head = List.of(subject.provider(), subject.type().name(),
                Long.toString(subject.deadline().toMillis()), subject.source().orElse(""), page);
        return Stream.concat(head.stream(), names.stream()).toList();
    }

    /** The result that a line has; empty if it has none. */
    static Optional<Result> result(String line, String page, String name) {
        String[] parts = line.split(String.valueOf(SEPARATOR), -1);
        return parts[0].equals(ENDS)
                ? Optional.of(new Result(page, name, Outcome.valueOf(parts[1]), parts[3],
                        Duration.ofNanos(Long.parseLong(parts[2]))))
                : Optional.empty();
    }
}
