package io.ofi4j.conformance.calls;

import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** One trial for each of libfabric's calls that core makes: it fails unless the call did what its man page says. */
public final class CallTrials {
    /** The trials of each man page, in the order of the table of calls. */
    public static final Map<String, Map<String, Trial>> BY_PAGE;
    /** All of them, in the order of the table. */
    public static final Map<String, Trial> ALL;

    static {
        Map<String, Map<String, Trial>> pages = new LinkedHashMap<>();
        add(pages, "fi_rma(3)", RmaTrials::addTo);
        add(pages, "fi_msg(3)", MessageTrials::addMessagesTo);
        add(pages, "fi_tagged(3)", MessageTrials::addTaggedTo);
        add(pages, "fi_cm(3), groups", MessageTrials::addGroupsTo);
        add(pages, "fi_rma(3), flags", FlagTrials::addTo);
        add(pages, "fi_atomic(3)", AtomicTrials::addTo);
        add(pages, "fi_mr(3)", MemoryTrials::addTo);
        add(pages, "fi_cq(3)", CompletionTrials::addTo);
        add(pages, "fi_cntr(3)", CounterTrials::addTo);
        add(pages, "fi_eq(3)", EventTrials::addTo);
        add(pages, "fi_av(3)", AddressTrials::addTo);
        add(pages, "fi_cm(3)", ConnectionTrials::addTo);
        add(pages, "fi_endpoint(3)", EndpointTrials::addTo);
        BY_PAGE = Collections.unmodifiableMap(pages);
        Map<String, Trial> all = new LinkedHashMap<>();
        pages.values().forEach(all::putAll);
        ALL = Collections.unmodifiableMap(all);
    }

    private CallTrials() {}

    private static void add(Map<String, Map<String, Trial>> pages, String page, Consumer<Map<String, Trial>> trials) {
        Map<String, Trial> ofPage = new LinkedHashMap<>();
        trials.accept(ofPage);
        pages.put(page, Collections.unmodifiableMap(ofPage));
    }

    /** {@return whether a call is tried over a subject}: over datagrams the calls of messages are, and no others */
    public static boolean tries(Subject subject, String call) {
        return !subject.isOfDatagrams() || MessageTrials.has(call);
    }
}
