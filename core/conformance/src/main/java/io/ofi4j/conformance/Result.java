package io.ofi4j.conformance;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.Libfabric;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.conformance.calls.UpstreamFailures;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * What came of a trial.
 *
 * @param page the man page of the call, or the document of the rule
 * @param name the call or the rule
 * @param outcome what came of it
 * @param text why, what came and what was expected, or what was seen; mostly empty where it works
 * @param time how long it took
 */
public record Result(String page, String name, Outcome outcome, String text, Duration time) {
    /** The text of what was left when there was no time any more. */
    public static final String TIME_UP = "time was up";

    private static final int ENOSYS = 38;
    private static final int ENOPROTOOPT = 92;
    private static final int EOPNOTSUPP = 95;
    private static final int ENOMEM = 12;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;
    private static final int ENOSPC = 28;
    /** What this machine lacks, whichever provider it is. */
    private static final Set<Integer> SHORTAGES = Set.of(ENOMEM, ENFILE, EMFILE, ENOSPC);
    /** What a provider says of a call that it does not have. */
    private static final Set<Integer> NOT_OFFERED = Set.of(ENOSYS, EOPNOTSUPP, ENOPROTOOPT);
    /** How the exceptions begin, or end, with which ofi4j refuses what a provider does wrong. */
    private static final String REFUSES = "ofi4j refuses ";

    /** {@return what comes of a trial in this process} */
    public static Result of(String page, String name, Trial trial, Subject subject) {
        Optional<UpstreamFailures.Failure> known = UpstreamFailures.of(name, subject, Libfabric.load().version());
        long start = System.nanoTime();
        Throwable end = null;
        String seen = "";
        try {
            Subject tried = known.map(failure -> failure.within(subject)).orElse(subject);
            if (trial instanceof Observation observation) {
                seen = observation.observe(tried);
            } else {
                trial.run(tried);
            }
        } catch (Throwable e) { // an Error, too, is what came of it
            end = e;
        }
        Duration time = Duration.ofNanos(System.nanoTime() - start);
        if (end instanceof NoProviderException && !subject.isThere()) {
            return new Result(page, name, Outcome.UNTRIED, "the provider is not there any more", time);
        }
        Outcome outcome = outcome(end);
        if (outcome.isWrong() && known.isPresent() && known.get().isShownBy(end)) {
            return new Result(page, name, Outcome.KNOWN, known.get().reason(), time);
        }
        return new Result(page, name, outcome, end == null ? seen : text(end), time);
    }

    /** {@return what a trial has shown that ended with this; null where it ended well} */
    public static Outcome outcome(Throwable end) {
        return switch (end) {
            case null -> Outcome.WORKS;
            case Untried _ -> Outcome.UNTRIED;
            case FarEnded e when e.isKilled() -> Outcome.UNTRIED;
            case FarEnded _ -> Outcome.ENDED;
            case Absent _ -> Outcome.HUNG;
            case NoProviderException _ -> Outcome.NOT_OFFERED;
            case FabricTimeoutException _ -> Outcome.HUNG;
            case FabricException e when SHORTAGES.contains(e.errno()) -> Outcome.UNTRIED;
            case OutOfMemoryError _ -> Outcome.UNTRIED;
            case FileSystemException _ -> Outcome.UNTRIED;
            case JavaProcess.NotStarted _ -> Outcome.UNTRIED;
            case FabricException e when NOT_OFFERED.contains(e.errno()) -> Outcome.NOT_OFFERED;
            case UnsupportedOperationException e when String.valueOf(e.getMessage()).contains(REFUSES) ->
                Outcome.REFUSED;
            case UnsupportedOperationException _ -> Outcome.NOT_OFFERED;
            default -> Outcome.WRONG;
        };
    }

    /** {@return whether it was not tried, or not to its end, because there was no time any more} */
    public boolean isCut() {
        return outcome == Outcome.UNTRIED && text.equals(TIME_UP);
    }

    private static String text(Throwable end) {
        return end instanceof Wrong || end instanceof Untried || end instanceof FabricException
                || end instanceof UnsupportedOperationException || end instanceof JavaProcess.NotStarted
                        ? String.valueOf(end.getMessage())
                        : end.toString();
    }
}
