package io.ofi4j.internal.quirks.rxm;

import static io.ofi4j.info.VersionRange.from;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;
import java.util.function.Predicate;

/**
 * The quirks of {@code ofi_rxm}, which makes unconnected endpoints of a provider's connected ones. Guesses begin
 * with 1.15, which has the code of 1.17, and are open: the tests of 2.6 show the behaviour, and main's code has changed
 * since.
 */
public final class RxmQuirks {
    private static final Predicate<Provider> RXM = provider -> provider.hasLayer("ofi_rxm");

    private static final Quirk WRITE_COUNTER = new Quirk("rxm-write-counter", RXM, from(1, 15).guess(), """
            An inject that fails, such as to a peer that has ended, has no context without a counter of writes, and \
            ends the process.""", "PeerSurvivalTest", Fact.NEEDS_WRITE_COUNTER);

    private static final Quirk WAIT_OBJECTS = new Quirk("rxm-wait-objects", RXM, from(1, 15).guess(), """
            What an endpoint has waited for stays in the wait objects of its queues and counters when it is closed.""",
            "EpollTest", Fact.STALE_WAIT_OBJECTS);

    private static final Quirk SOURCES = new Quirk("rxm-sources", RXM, from(1, 15).guess(), """
            The source of a completion is right for messages only.""", "CompletionFormatTest",
            Fact.SOURCES_OF_MESSAGES_ONLY);

    private static final Quirk ATOMICS = new Quirk("rxm-atomics", RXM, from(1, 15).guess(), """
            fi_atomicmsg gives no completion with FI_INJECT, and takes no completion data.""", "PreparedAtomicTest",
            Fact.ATOMIC_INJECTS_ARE_SILENT, Fact.ATOMICS_CARRY_NO_DATA);

    /** 6cfc9cbc3 (1.17, and 1.16.1) has the provider refuse them. */
    private static final Quirk WIDE_ATOMICS = new Quirk("rxm-wide-atomics", RXM, from(1, 15).to(1, 16), """
            Integers of 128 bits are calculated where they lie in a packet, which is not aligned for them.""",
            "AtomicsTest", Fact.WIDE_ATOMICS_CRASH);

    private static final Quirk ATOMICS_IN_POLLS = new Quirk("rxm-atomics-in-polls", RXM, from(1, 15), """
            Atomic operations are messages, which the target handles in its polls, one after the other, while writes \
            and reads are answered below.""", "FlushTest", Fact.ATOMICS_GO_APART);

    /** e6176a31c (1.18.0) mended one of the paths, and not all of them have been read. */
    private static final Quirk CLOSES = new Quirk("rxm-close-without-vector", RXM, from(1, 15).guess(), """
            Closing an endpoint looks into its vector, also where none was bound.""", "LifeCycleTest",
            Fact.CLOSE_NEEDS_VECTOR);

    private static final Quirk DISCARDS = new Quirk("rxm-discards", RXM, from(1, 15).guess(), """
            The sender of a long message that is discarded is not told that it has completed.""", "TaggedTest",
            Fact.DISCARDED_SENDS_HANG);

    private static final String CLAIMS = """
            A claim takes the first segment of a message, which comes in several from 16 KiB to 128 KiB. The others \
            stay, the receive never completes, and the process ends.""";

    /** b1f5e7101 (2.0.0) mended it. */
    private static final Quirk VERBS_CLAIMS = new Quirk("rxm-verbs-claims",
            provider -> RXM.test(provider) && provider.hasCore("verbs"), from(1, 15).to(1, 22), CLAIMS, "VerbsTest",
            Fact.CLAIMS_TAKE_ONE_SEGMENT);

    /** Up to 1.18 these come whole. */
    private static final Quirk TCP_CLAIMS = new Quirk("rxm-tcp-claims",
            provider -> RXM.test(provider) && provider.hasCore("tcp", "net"), from(1, 19).to(1, 22), CLAIMS,
            "TaggedTest", Fact.CLAIMS_TAKE_ONE_SEGMENT);

    /** 622a77315 (b1f5e7101 in 2.0.0) brought it. */
    private static final Quirk MANY_MESSAGES = new Quirk("rxm-many-messages", RXM, from(2, 0), """
            A message longer than what is left of a receive of many messages is written beyond its end.""",
            "ManyMessagesTest", Fact.LONG_MESSAGES_OVERWRITE);

    /** 622a77315 (b1f5e7101 in 2.0.0) brought it. */
    private static final Quirk DIRECTED_RECEIVES = new Quirk("rxm-directed-receives", RXM, from(2, 0), """
            A receive of messages without tags from one peer overwrites the provider's memory beside one from any \
            peer, and ends the process when it is canceled.""", "DirectedReceiveTest", Fact.DIRECTED_RECEIVES_CRASH);

    /** 622a77315 (b1f5e7101 in 2.0.0) brought it, 47e04dcbf mended it. */
    private static final Quirk EARLY_MESSAGES = new Quirk("rxm-early-messages", RXM, from(2, 0).to(2, 3), """
            To insert an address while a message waits for its receive ends the process (rxm_get_addr), unless the \
            endpoint has FI_DIRECTED_RECV, which it gets.""", "EarlyMessageTest", Fact.INSERTS_NEED_DIRECTED_RECEIVES);

    /** b1f5e7101 brought it, 82e4ae861 (2.1.0) mended it. */
    private static final Quirk OPTIONS = new Quirk("rxm-options", RXM, from(2, 0).to(2, 0), """
            Reading FI_OPT_MIN_MULTI_RECV of an endpoint that is not enabled ends the process.""",
            "EndpointOptionsTest", Fact.OPTIONS_NEED_ENABLE);

    private static final Quirk COLLECTIVES = new Quirk("rxm-collectives", RXM, from(1, 15).guess(), """
            Collective operations are tagged messages of one packet each. Longer ones hang or crash, a receive of \
            any tag matches them, an uneven broadcast writes beyond its elements, and one that finds no receive is \
            forgotten.""", "CollectivesTest", Fact.LONG_COLLECTIVES_BREAK, Fact.UNEVEN_BROADCASTS_OVERRUN,
            Fact.COLLECTIVES_USE_TAGS, Fact.COLLECTIVES_NEED_RECEIVES);

    /** All of them. */
    public static final List<Quirk> ALL = List.of(WRITE_COUNTER, WAIT_OBJECTS, SOURCES, ATOMICS, WIDE_ATOMICS,
            ATOMICS_IN_POLLS, CLOSES, DISCARDS, VERBS_CLAIMS, TCP_CLAIMS, MANY_MESSAGES, DIRECTED_RECEIVES,
            EARLY_MESSAGES, OPTIONS, COLLECTIVES, new HalfReceivedWrites(), new DepartedPeers(),
            new ArrivedOperations());

    private RxmQuirks() {}
}
