package io.ofi4j.internal.quirks;

import static io.ofi4j.internal.quirks.Fact.BLOCKING_COUNTER_WAIT;
import static io.ofi4j.internal.quirks.Fact.CRITICAL_POLLS;
import static io.ofi4j.internal.quirks.Fact.CRITICAL_POSTS;

import java.util.EnumSet;
import java.util.Set;

/**
 * What the tests have shown of providers that do what the man pages say, so that ofi4j may be faster there. Of providers and versions
 * that nobody has tried nothing is known.
 */
final class KnownFacts {
    private static final Set<String> OVER_SOCKETS = Set.of("tcp", "net", "sockets", "udp");

    private KnownFacts() {}

    static Set<Fact> of(Provider provider) {
        Set<Fact> facts = EnumSet.noneOf(Fact.class);
        if (!Tested.ALL.contains(provider.libfabric())) { return facts; }
        boolean copiesInPolls = OVER_SOCKETS.contains(provider.base()); // many megabytes in one poll, with manual progress
        boolean takesSpinLocks = provider.is("shm") && Tested.ONE.contains(provider.libfabric()); // shared between processes
        if (copiesInPolls || provider.base().equals("verbs") || provider.is("shm")) {
            facts.add(CRITICAL_POSTS);
            facts.add(CRITICAL_POLLS);
            facts.add(BLOCKING_COUNTER_WAIT);
        }
        if (copiesInPolls) { facts.remove(CRITICAL_POLLS); }
        if (takesSpinLocks) {
            facts.remove(CRITICAL_POSTS);
            facts.remove(CRITICAL_POLLS);
        }
        if (provider.is("shm") || provider.isUnder("ofi_rxd")
                || provider.is("sockets") && Tested.ONE.contains(provider.libfabric())) {
            facts.remove(BLOCKING_COUNTER_WAIT); // they wait longer than they are told, or not at all
        }
        return facts;
    }
}
