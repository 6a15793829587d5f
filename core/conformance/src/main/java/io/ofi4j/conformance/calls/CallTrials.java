package io.ofi4j.conformance.calls;

import io.ofi4j.conformance.Trial;
import java.util.LinkedHashMap;
import java.util.Map;

/** One trial for each of libfabric's calls that core makes: it fails unless the call did what its man page says. */
public final class CallTrials {
    /** In the order of the table. */
    public static final Map<String, Trial> ALL = new LinkedHashMap<>();

    static {
        RmaTrials.addTo(ALL);
        MessageTrials.addTo(ALL);
        FlagTrials.addTo(ALL);
        AtomicTrials.addTo(ALL);
        MemoryTrials.addTo(ALL);
        CompletionTrials.addTo(ALL);
        CounterTrials.addTo(ALL);
        EventTrials.addTo(ALL);
        AddressTrials.addTo(ALL);
        ConnectionTrials.addTo(ALL);
        EndpointTrials.addTo(ALL);
    }

    private CallTrials() {}
}
