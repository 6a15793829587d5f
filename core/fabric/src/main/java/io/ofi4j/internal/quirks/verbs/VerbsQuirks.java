package io.ofi4j.internal.quirks.verbs;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.TestedVersions;
import java.util.List;

/** The quirks of {@code verbs}, mostly of its connected endpoints. */
public final class VerbsQuirks {
    /** What Linux's Soft-iWARP, siw, says of itself. */
    private static final String SOFT_IWARP = "0x626d74";

    /** All of them. */
    public static final List<Quirk> ALL = List.of(new Quirk("verbs-connections",
            provider -> provider.hasCore("verbs") && provider.isConnected(), TestedVersions.OVER_VERBS,
            "An endpoint is opened for one destination; a peer's write with data takes a receive away; the end of a"
                    + " connection that is not answered reaches the peer after half a minute.",
            "VerbsTest", Fact.ONE_DESTINATION, Fact.DATA_TAKES_RECEIVES, Fact.SHUTDOWN_NEEDS_ANSWER),
            new Quirk("verbs-adapter", provider -> provider.hasCore("verbs"), TestedVersions.OVER_VERBS,
                    "The adapter does not touch what is no longer registered; fi_setname leaves an event queue with"
                            + " freed" + " memory.",
                    "VerbsTest", Fact.CLOSED_REGIONS_ARE_UNTOUCHED, Fact.FIXED_ADDRESSES),
            new Quirk("siw-reads", provider -> provider.hasCore("verbs") && provider.vendor().equals(SOFT_IWARP),
                    TestedVersions.OVER_VERBS,
                    "A read into several local segments fills the first one only, and completes.", "VerbsTest",
                    Fact.READS_FILL_ONE_SEGMENT),
            new Quirk("verbs-atomics", provider -> provider.is("verbs") && provider.isConnected(),
                    TestedVersions.OVER_VERBS,
                    "A sum adds the address of its operand, and CSWAP swaps the addresses of operand and comparand; a"
                            + " float takes" + " its neighbour with it.",
                    "AtomicsRefusedTest", Fact.ATOMICS_ONLY_COPY),
            new Quirk("siw-atomics",
                    provider -> provider.is("verbs") && provider.isConnected() && provider.vendor().equals(SOFT_IWARP),
                    TestedVersions.OVER_VERBS,
                    "libfabric says that there are atomic operations, which the device lacks.", "AtomicsRefusedTest",
                    Fact.ATOMICS_BREAK),
            new Quirk("verbs-rxm-progress", provider -> provider.hasCore("verbs") && provider.hasLayer("ofi_rxm"),
                    TestedVersions.OVER_VERBS,
                    "With automatic data progress the provider's thread ends the process when a peer goes away.",
                    "VerbsTest", Fact.AUTOMATIC_PROGRESS_CRASHES));

    private VerbsQuirks() {}
}
