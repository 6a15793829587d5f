package io.ofi4j.conformance.run;

import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.calls.CallTrials;
import io.ofi4j.conformance.rules.RuleTrials;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All trials, by the man page or the document that they hold a provider to. */
public final class Catalogue {
    private Catalogue() {}

    /** {@return the pages, in the order of a report} */
    public static List<String> pages() {
        return Stream.concat(CallTrials.BY_PAGE.keySet().stream(), RuleTrials.BY_PAGE.keySet().stream()).toList();
    }

    /** {@return the trials of a page that are tried with a subject, by the call or the rule} */
    public static Map<String, Trial> trials(String page, Subject subject) {
        Map<String, Trial> rules = RuleTrials.BY_PAGE.get(page);
        if (rules != null) { return RuleTrials.tries(subject, page) ? rules : Map.of(); }
        Map<String, Trial> trials = new LinkedHashMap<>(CallTrials.BY_PAGE.get(page));
        trials.keySet().removeIf(call -> !CallTrials.tries(subject, call));
        return trials;
    }
}
