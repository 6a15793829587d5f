package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Loopback;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.run.TrialRun;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The shortest way through the trials of {@code ofi4j verify}, for who wants to know whether something is wrong. */
public final class ShortRun {
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** What moves bytes, and what tells of it. */
    private static final List<String> PAGES = List.of("fi_rma(3)", "fi_msg(3)", "fi_tagged(3)", "fi_atomic(3)",
            "fi_mr(3)", "fi_cq(3)", "fi_cm(3)", "rules of fi_cq(3)", "rules of fi_rma(3)");

    private ShortRun() {}

    /**
     * What came of them.
     *
     * @param counts how many trials ended how, in words
     * @param wrongs those that show what is wrong
     * @param isEnough whether something works, and nothing was left because there was no time any more
     * @param obstacle why nothing was tried; empty if something was
     */
    public record Verdict(String counts, List<Result> wrongs, boolean isEnough, Optional<String> obstacle) {}

    /** Runs them over a provider with one type of endpoint. */
    public static Verdict of(Libfabric libfabric, String provider, EndpointType type) {
        List<Result> results = new ArrayList<>();
        try {
            SubjectChoice choice = SubjectChoice.of(libfabric, provider, Optional.of(type), Optional.empty(),
                    Loopback.ADDRESS, DEADLINE);
            new TrialRun(choice.subject, List.of(), LIMIT, () -> false, results::add).run(PAGES);
        } catch (CommandFailure | FabricException e) {
            return new Verdict("", List.of(), false, Optional.of(e.getMessage()));
        }
        List<Result> wrongs = results.stream().filter(result -> result.outcome().isWrong()).toList();
        boolean isEnough = results.stream().anyMatch(result -> result.outcome() == Outcome.WORKS)
                && results.stream().noneMatch(Result::isCut);
        return new Verdict(Report.counts(results.stream()), wrongs, isEnough, Optional.empty());
    }
}
