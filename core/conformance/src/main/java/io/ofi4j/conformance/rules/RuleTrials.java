package io.ofi4j.conformance.rules;

import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** One trial for each rule that programs lean on beyond single calls. */
public final class RuleTrials {
    /** The trials of each kind of rule. */
    public static final Map<String, Map<String, Trial>> BY_PAGE;

    /** The page of what is seen of peers in other processes. */
    public static final String PEERS = "rules of peers";
    /** The trial of that page without which no other with a far half works. */
    public static final String REACHED = "the far end is reached";
    /** The page of what takes long, and much memory. */
    public static final String LONG = "long transfers";

    static {
        Map<String, Map<String, Trial>> pages = new LinkedHashMap<>();
        add(pages, "rules of fi_cq(3)", CompletionRules::addTo);
        add(pages, "rules of fi_msg(3)", MessageRules::addTo);
        add(pages, "rules of fi_rma(3)", RmaRules::addTo);
        add(pages, "rules of fi_atomic(3)", AtomicRules::addTo);
        add(pages, "rules of corner cases", CornerRules::addTo);
        add(pages, PEERS, PeerRules::addTo);
        add(pages, LONG, RmaRules::addLongTo);
        BY_PAGE = Collections.unmodifiableMap(pages);
    }

    private RuleTrials() {}

    private static void add(Map<String, Map<String, Trial>> pages, String page, Consumer<Map<String, Trial>> trials) {
        Map<String, Trial> ofPage = new LinkedHashMap<>();
        trials.accept(ofPage);
        pages.put(page, Collections.unmodifiableMap(ofPage));
    }

    /** {@return whether the rules of a page are tried over a subject}: datagrams may be lost, and have messages only */
    public static boolean tries(Subject subject, String page) {
        return !subject.isOfDatagrams();
    }
}
