package io.ofi4j.conformance.run;

import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.Libfabric;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.calls.UpstreamFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Runs trials over a subject, those of each page in a JVM of their own. A trial that ends its JVM, or that hangs, is a
 * result, and those behind it run in another JVM.
 */
public final class TrialRun {
    /** Of a JVM on a busy machine. */
    private static final Duration STARTING = Duration.ofSeconds(60);
    private static final Duration CLOSING = Duration.ofSeconds(10);
    private static final String ALONE = "on this machine alone";
    private static final Duration STEP = Duration.ofMillis(100);

    private final Subject subject;
    private final List<String> options;
    private final long end;
    private final BooleanSupplier isInterrupted;
    private final Consumer<Result> results;
    private final FarHost farHost;
    /** Of the process that runs now. */
    private FarHost.Line far;
    private boolean hasFar;
    private boolean hasBegun;

    /** A run with far halves on this machine. */
    public TrialRun(Subject subject, List<String> options, Duration limit, BooleanSupplier isInterrupted,
            Consumer<Result> results) {
        this(subject, options, limit, isInterrupted, results, FarRunner.here(subject));
    }

    /**
     * A run that has not begun.
     *
     * @param subject what is tried
     * @param options options of the JVMs, such as {@code -Dname=value}
     * @param limit how long the run takes at most: what is left then is not tried
     * @param isInterrupted whether it shall end
     * @param results takes each result at once
     * @param farHost where the far halves of trials run
     */
    public TrialRun(Subject subject, List<String> options, Duration limit, BooleanSupplier isInterrupted,
            Consumer<Result> results, FarHost farHost) {
        this.farHost = farHost;
        this.subject = subject;
        this.options = List.copyOf(options);
        this.end = System.nanoTime() + limit.toNanos();
        this.isInterrupted = isInterrupted;
        this.results = results;
    }

    /** Runs the trials of these pages. */
    public void run(List<String> pages) {
        pages.forEach(page -> run(page, List.copyOf(Catalogue.trials(page, subject).keySet())));
    }

    /** Runs these trials of a page. */
    public void run(String page, List<String> names) {
        Map<String, Trial> trials = Catalogue.trials(page, subject);
        List<String> left = new ArrayList<>(names);
        while (!left.isEmpty() && !isInterrupted.getAsBoolean()) {
            if (isTimeUp()) {
                left.forEach(name -> accept(page, name, Outcome.UNTRIED, Result.TIME_UP, System.nanoTime()));
                return;
            }
            try (JavaProcess process = JavaProcess.startAnswering(options, TrialProcess.class,
                    TrialProcess.arguments(subject, page, left));
                    FarHost.Line line = farHost.open(options, process::tell)) {
                far = line;
                hasBegun = false;
                run(process, page, trials, left);
            } catch (JavaProcess.NotStarted e) {
                accept(page, left.removeFirst(), Outcome.UNTRIED, e.getMessage(), System.nanoTime());
            }
        }
    }

    /** Takes those that it has results of from what is left. */
    private void run(JavaProcess process, String page, Map<String, Trial> trials, List<String> left) {
        while (!left.isEmpty()) {
            String name = left.getFirst();
            long start = System.nanoTime();
            hasFar = false;
            Optional<Result> result = await(process, page, name, trials.get(name).deadlines(), start);
            String ending = result.isPresent() || isInterrupted.getAsBoolean() ? "" : process.ending();
            if (isInterrupted.getAsBoolean()) { return; } // Ctrl-C ends the other process, too
            left.removeFirst();
            if (result.isEmpty()) {
                results.accept(unfinished(new Result(page, name, outcome(ending), ending, since(start))));
                return;
            }
            boolean hangs = result.get().outcome() == Outcome.HUNG;
            Result came = hangs ? unfinished(result.get()) : result.get();
            results.accept(hasFar || farHost.isHere() || came.isCut() ? came : alone(came));
            if (hangs || came.isCut()) {
                return; // what it left may not be closed: the next has another process
            }
        }
        awaitEnd(process, page);
    }

    /** {@return what the end of the process in a trial shows} A JVM that does not start is not the provider's fault. */
    private Outcome outcome(String ending) {
        boolean isStarted = hasBegun || !ending.startsWith(JavaProcess.STATUS);
        return isStarted && !ending.equals(JavaProcess.KILLED) ? Outcome.ENDED : Outcome.UNTRIED;
    }

    /** {@return what came of a trial that has ended its process, or hangs: the provider may be known for it} */
    private Result unfinished(Result came) {
        return UpstreamFailures.of(came.name(), subject, Libfabric.load().version())
                .filter(failure -> failure.isShownBy(came.text()))
                .map(failure -> new Result(came.page(), came.name(), Outcome.KNOWN, failure.reason(), came.time()))
                .orElse(came);
    }

    /** Of what makes sense in one process only, or would be the same on two machines. */
    private static Result alone(Result result) {
        return new Result(result.page(), result.name(), result.outcome(),
                result.text().isEmpty() ? ALONE : ALONE + "; " + result.text(), result.time());
    }

    private boolean isTimeUp() { return System.nanoTime() - end > 0; }

    private void accept(String page, String name, Outcome outcome, String text, long start) {
        results.accept(new Result(page, name, outcome, text, since(start)));
    }

    /** Empty if the process has ended, or shall end. */
    private Optional<Result> await(JavaProcess process, String page, String name, int deadlines, long start) {
        Duration patience = subject.deadline().multipliedBy(deadlines).plus(CLOSING);
        long limit = start + STARTING.plus(patience).toNanos();
        try {
            while (!isInterrupted.getAsBoolean()) {
                if (isTimeUp()) {
                    return Optional.of(new Result(page, name, Outcome.UNTRIED, Result.TIME_UP, since(start)));
                }
                if (System.nanoTime() - limit > 0) {
                    return Optional.of(new Result(page, name, Outcome.HUNG,
                            "a call did not return in " + patience.toSeconds() + " s", since(start)));
                }
                try {
                    Optional<String> line = process.line(STEP);
                    if (line.isEmpty()) { return Optional.empty(); }
                    if (line.get().equals(TrialProcess.BEGINS)) {
                        hasBegun = true;
                        limit = System.nanoTime() + patience.toNanos();
                        continue;
                    }
                    if (line.get().startsWith(Relay.TO_FAR)) {
                        hasFar = true;
                        if (line.get().equals(Relay.TO_FAR + FarRunner.START)) { limit += STARTING.toNanos(); }
                        far.accept(line.get().substring(Relay.TO_FAR.length()));
                        continue;
                    }
                    Optional<Result> result = TrialProcess.result(line.get(), page, name);
                    if (result.isPresent()) { return result; }
                } catch (TimeoutException e) {
                    continue; // it may be interrupted meanwhile
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    private static Duration since(long start) { return Duration.ofNanos(System.nanoTime() - start); }

    /** What is only seen when the process ends: a library's last function, or a thread that does not end. */
    private void awaitEnd(JavaProcess process, String page) {
        long start = System.nanoTime();
        String name = "the end of the process";
        if (!process.ended(subject.deadline().plus(CLOSING))) {
            accept(page, name, Outcome.HUNG, "the process did not end", start);
        } else if (process.exitStatus() != 0) {
            String ending = process.ending();
            accept(page, name, outcome(ending), ending, start);
        }
    }
}
