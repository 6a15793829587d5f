package io.ofi4j.internal.quirks.verbs;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;

/** The quirks of {@code verbs}, mostly of its connected endpoints. */
public final class VerbsQuirks {
    /** The vendor that Linux's Soft-iWARP, siw, reports. */
    private static final String SOFT_IWARP = "0x626d74";

    /**
     * The tests have run over verbs with 1.17 and 2.1. A guess for the versions around these: the functions that name,
     * connect and shut down an endpoint are the same in 1.15 and 1.17, and in 1.22 to main; those that close a region,
     * read, and write with data are the same in all. verbs_cm.c and verbs_rma.c of 2.1 are main's.
     */
    private static final VersionRange OPEN = VersionRange.from(1, 15).guess();

    /** All of them. */
    public static final List<Quirk> ALL = List.of(new Quirk("verbs-connections",
            provider -> provider.hasCore("verbs") && provider.isConnected(), OPEN,
            "An endpoint is opened for one destination; a peer's write with data takes a receive away; the end of a"
                    + " connection that is not answered reaches the peer after half a minute.",
            "VerbsTest", Fact.ONE_DESTINATION, Fact.DATA_TAKES_RECEIVES, Fact.SHUTDOWN_NEEDS_ANSWER),
            new Quirk("verbs-adapter", provider -> provider.hasCore("verbs"), OPEN,
                    "The adapter does not touch what is no longer registered; fi_setname leaves an event queue with"
                            + " freed memory.",
                    "VerbsTest", Fact.CLOSED_REGIONS_ARE_UNTOUCHED, Fact.FIXED_ADDRESSES),
            new Quirk("siw-reads", provider -> provider.hasCore("verbs") && provider.vendor().equals(SOFT_IWARP), OPEN,
                    "A read into several local segments fills the first one only, and completes.", "VerbsTest",
                    Fact.READS_FILL_ONE_SEGMENT),
            // 2fc74da2e (2.2) mended sums and swaps
            new Quirk("verbs-atomics", provider -> provider.is("verbs") && provider.isConnected(),
                    VersionRange.from(1, 15).to(2, 1),
                    "A sum adds the address of its operand, and CSWAP swaps the addresses of operand and comparand; a"
                            + " float takes its neighbour with it.",
                    "AtomicsRefusedTest", Fact.ATOMICS_ONLY_COPY),
            // main has it, and verbs_ep.c of 2.2 is main's
            new Quirk("verbs-floats", provider -> provider.is("verbs") && provider.isConnected(),
                    VersionRange.from(2, 2),
                    "The operations of FLOAT and DOUBLE are those of 64-bit integers: a sum adds the bits, and a float"
                            + " takes its neighbour with it.",
                    "AtomicsRefusedTest", Fact.ATOMICS_OF_FLOATS_BREAK),
            new Quirk("siw-atomics",
                    provider -> provider.is("verbs") && provider.isConnected() && provider.vendor().equals(SOFT_IWARP),
                    OPEN, "libfabric says that there are atomic operations, which the device lacks.",
                    "AtomicsRefusedTest", Fact.ATOMICS_BREAK),
            // a guess as above; 697688386 (after 2.6) reads what a peer has sent before it closes the endpoint
            new Quirk("verbs-rxm-progress", provider -> provider.hasCore("verbs") && provider.hasLayer("ofi_rxm"),
                    VersionRange.from(1, 15).to(2, 6).guess(),
                    "With automatic data progress the provider's thread ends the process when a peer goes away.",
                    "VerbsTest", Fact.AUTOMATIC_PROGRESS_CRASHES));

    private VerbsQuirks() {}
}
