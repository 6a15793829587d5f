package io.ofi4j.conformance.run;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Why no trial shows what a quirk is there for, where that is known. */
final class UnshownQuirks {
    private static final String CONNECTED = "it concerns connected endpoints (-e MSG)";

    private static final Map<String, String> REASONS = Map.ofEntries(Map.entry("shm-users", "it needs another user"),
            Map.entry("shm-device-copies", "it needs a GPU"),
            Map.entry("shm-unopened-files", "it needs a process without descriptors, or a /dev/shm without files"),
            Map.entry("shm-long-messages", "it keeps a call that may never return from stopping other threads"),
            Map.entry("shm-closed-regions", "the provider reads what was freed, which mostly goes well"),
            Map.entry("tcp-passive-endpoints", CONNECTED), Map.entry("sockets-shutdown", CONNECTED),
            Map.entry("sockets-passive-endpoints", CONNECTED),
            Map.entry("tcp-late-connections", "a peer has to connect at the moment of a close"),
            Map.entry("rxm-half-received-writes", "a peer has to leave in the middle of a write"),
            Map.entry("rxm-departed-peers", "a peer has to leave before its target has looked at what it sent"));

    private UnshownQuirks() {}

    /** {@return why no trial shows it; empty where a trial does, or nobody knows} */
    static Optional<String> reason(String quirk) {
        return Optional.ofNullable(REASONS.get(quirk));
    }

    /** {@return the quirks that have a reason} */
    static List<String> names() {
        return REASONS.keySet().stream().sorted().toList();
    }
}
