package io.ofi4j.internal.quirks.verbs;

import static io.ofi4j.info.VersionRange.from;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;
import java.util.function.Predicate;

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

    /** Also with another provider layered on it. */
    private static final Predicate<Provider> VERBS = provider -> provider.hasCore("verbs");
    private static final Predicate<Provider> BELOW_RXM = VERBS.and(provider -> provider.hasLayer("ofi_rxm"));
    private static final Predicate<Provider> CONNECTED_VERBS = VERBS.and(Provider::isConnected);
    private static final Predicate<Provider> SIW = VERBS.and(provider -> provider.vendor().equals(SOFT_IWARP));
    /** With nothing layered on it. */
    private static final Predicate<Provider> CONNECTED = CONNECTED_VERBS.and(provider -> provider.is("verbs"));
    private static final Predicate<Provider> CONNECTED_SIW = CONNECTED.and(SIW);

    private static final Quirk CONNECTIONS = new Quirk("verbs-connections", CONNECTED_VERBS, OPEN, """
            An endpoint is opened for one destination; a peer's write with data takes a receive away; the end of a \
            connection that is not answered reaches the peer after half a minute.""", "VerbsTest", Fact.ONE_DESTINATION,
            Fact.DATA_TAKES_RECEIVES, Fact.SHUTDOWN_NEEDS_ANSWER);

    private static final Quirk ADAPTER = new Quirk("verbs-adapter", VERBS, OPEN, """
            The adapter does not touch what is no longer registered; fi_setname leaves an event queue with freed \
            memory.""", "VerbsTest", Fact.CLOSED_REGIONS_ARE_UNTOUCHED, Fact.FIXED_ADDRESSES);

    private static final Quirk SIW_READS = new Quirk("siw-reads", SIW, OPEN, """
            A read into several local segments fills the first one only, and completes.""", "VerbsTest",
            Fact.READS_FILL_ONE_SEGMENT);

    /** 2fc74da2e (2.2) mended sums and swaps. */
    private static final Quirk ATOMICS = new Quirk("verbs-atomics", CONNECTED, from(1, 15).to(2, 1), """
            A sum adds the address of its operand, and CSWAP swaps the addresses of operand and comparand; a float \
            takes its neighbour with it.""", "AtomicsRefusedTest", Fact.ATOMICS_ONLY_COPY);

    /** Main has it, and verbs_ep.c of 2.2 is main's. */
    private static final Quirk FLOATS = new Quirk("verbs-floats", CONNECTED, from(2, 2), """
            The operations of FLOAT and DOUBLE are those of 64-bit integers: a sum adds the bits, and a float takes \
            its neighbour with it.""", "AtomicsRefusedTest", Fact.ATOMICS_OF_FLOATS_BREAK);

    private static final Quirk SIW_ATOMICS = new Quirk("siw-atomics", CONNECTED_SIW, OPEN, """
            libfabric says that there are atomic operations, which the device lacks.""", "AtomicsRefusedTest",
            Fact.ATOMICS_BREAK);

    /** A guess as above; 697688386 (after 2.6) reads what a peer has sent before it closes the endpoint. */
    private static final Quirk PROGRESS = new Quirk("verbs-rxm-progress", BELOW_RXM, from(1, 15).to(2, 6).guess(), """
            With automatic data progress the provider's thread ends the process when a peer goes away.""", "VerbsTest",
            Fact.AUTOMATIC_PROGRESS_CRASHES);

    /** All of them. */
    public static final List<Quirk> ALL = List.of(CONNECTIONS, ADAPTER, SIW_READS, ATOMICS, FLOATS, SIW_ATOMICS,
            PROGRESS);

    private VerbsQuirks() {}
}
