package io.ofi4j.conformance.run;

import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.rules.RuleTrials;
import io.ofi4j.info.ProviderQuirk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Says of each quirk that is on whether a trial shows what it is there for: the trials run without any quirk, and those
 * that end otherwise then run once more without each single one.
 */
public final class QuirkRun {
    private static final String PROPERTY = "-Dio.ofi4j.quirks=";

    private final Subject subject;
    private final long end;
    private final BooleanSupplier isInterrupted;
    private final Map<String, Result> usual;
    private final FarHost farHost;

    /**
     * What trials say of a quirk.
     *
     * @param quirk its name
     * @param isNeeded true if a trial fails without it; false if each trial works without it that is refused with it;
     *        empty if no trial shows it, or time was up
     * @param text the trials, and what comes of them without it
     */
    public record Finding(String quirk, Optional<Boolean> isNeeded, String text) {}

    /**
     * A run that has not begun.
     *
     * @param subject what was tried
     * @param limit how long it takes at most; of the quirks that are left then, nothing is found
     * @param isInterrupted whether it shall end
     * @param results what came with all quirks
     * @param farHost where the far halves of trials run
     */
    public QuirkRun(Subject subject, Duration limit, BooleanSupplier isInterrupted, List<Result> results,
            FarHost farHost) {
        this.farHost = farHost;
        this.subject = subject;
        this.end = System.nanoTime() + limit.toNanos();
        this.isInterrupted = isInterrupted;
        this.usual = results.stream()
                .collect(Collectors.toMap(QuirkRun::key, result -> result, (a, b) -> a, LinkedHashMap::new));
    }

    private static String key(Result result) { return result.page() + "|" + result.name(); }

    private Duration left() { return Duration.ofNanos(Math.max(0, end - System.nanoTime())); }

    /**
     * Runs them.
     *
     * @param quirks those that are on
     * @param findings takes each at once
     */
    public void run(List<ProviderQuirk> quirks, Consumer<Finding> findings) {
        List<Result> others = differing("none", pages());
        Map<String, List<String>> suspects = others.stream().collect(Collectors.groupingBy(Result::page,
                LinkedHashMap::new, Collectors.mapping(Result::name, Collectors.toList())));
        for (ProviderQuirk quirk : quirks) {
            if (isInterrupted.getAsBoolean()) { return; }
            String rest = quirks.stream().map(ProviderQuirk::name).filter(name -> !name.equals(quirk.name()))
                    .collect(Collectors.joining(","));
            List<Result> differing = differing(rest.isEmpty() ? "none" : rest, suspects);
            if (isInterrupted.getAsBoolean()) { return; }
            findings.accept(left().isZero()
                    ? new Finding(quirk.name(), Optional.empty(), "time was up: give a longer --limit")
                    : finding(quirk.name(), differing));
        }
    }

    /** All that were tried, but for what takes long. */
    private Map<String, List<String>> pages() {
        return usual.values().stream().filter(result -> !result.page().equals(RuleTrials.LONG))
                .filter(result -> result.outcome() != Outcome.NOT_OFFERED && result.outcome() != Outcome.UNTRIED)
                .collect(Collectors.groupingBy(Result::page, LinkedHashMap::new,
                        Collectors.mapping(Result::name, Collectors.toList())));
    }

    /** Those that end otherwise with these quirks. */
    private List<Result> differing(String quirks, Map<String, List<String>> names) {
        List<Result> results = new ArrayList<>();
        TrialRun run = new TrialRun(subject, List.of(PROPERTY + quirks), left(), isInterrupted, results::add, farHost);
        names.forEach(run::run);
        return results.stream().filter(result -> result.outcome() != Outcome.UNTRIED).filter(
                result -> usual.containsKey(key(result)) && usual.get(key(result)).outcome() != result.outcome())
                .toList();
    }

    private static Finding finding(String quirk, List<Result> others) {
        String text = others.stream()
                .map(result -> "'" + result.name() + "' " + result.outcome()
                        + (result.text().isEmpty() ? "" : " (" + result.text() + ")"))
                .collect(Collectors.joining("; "));
        if (others.isEmpty()) {
            String why = UnshownQuirks.reason(quirk).map(reason -> ": " + reason).orElse("");
            return new Finding(quirk, Optional.empty(), "no trial ends otherwise without it" + why);
        }
        boolean isNeeded = others.stream().anyMatch(result -> result.outcome() != Outcome.WORKS);
        return new Finding(quirk, Optional.of(isNeeded), "without it " + text);
    }
}
