package io.ofi4j.internal.quirks;

import static io.ofi4j.info.VersionRange.from;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Errno;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * The quirks of {@code sockets}, {@code udp}, {@code ofi_rxd}, {@code sm2}, {@code ucx} and {@code lnx}, and those of
 * several providers. Ranges
 * without a comment are by source: from 1.15 to today's main no commit has changed the behaviour.
 */
final class OtherQuirks {
    private static final Predicate<Provider> SOCKETS = provider -> provider.is("sockets");
    private static final Predicate<Provider> SM2 = provider -> provider.is("sm2");
    private static final Predicate<Provider> UCX = provider -> provider.is("ucx");
    private static final Predicate<Provider> LNX = provider -> provider.is("lnx");
    private static final Predicate<Provider> RXD = provider -> provider.hasLayer("ofi_rxd");
    /** The software providers that open counters, but for sockets. */
    private static final Predicate<Provider> COUNTING = provider -> provider.hasCore("shm", "tcp", "net", "udp",
            "verbs", "sm2");
    /** The providers that use the code of shm's peers. */
    private static final Predicate<Provider> SHARING = provider -> provider.hasCore("shm", "sm2", "efa");

    private static final Quirk SOCKETS_PLACES = new Quirk("sockets-places", SOCKETS, from(1, 15), """
            A domain works on 128 operations at a time, and does not take back the places of those that are under \
            way when their endpoint is closed.""", "ConcurrentCloseTest", Fact.DRAIN_BEFORE_CLOSE);

    private static final Quirk SOCKETS_SHUTDOWN = new Quirk("sockets-shutdown", SOCKETS, from(1, 15), """
            fi_shutdown leaves the number of a closed file, which fi_close closes again.""", "ConnectionTest",
            Fact.SHUTDOWN_CLOSES);

    private static final Quirk SOCKETS_CONNECTS = new Quirk("sockets-connects", SOCKETS, from(1, 15), """
            fi_connect calls connect(2) of a socket that blocks, as long as the kernel tries where the peer's machine \
            does not answer.""", "SilentListenerTest", Fact.CONNECTS_WAIT);

    private static final Quirk SOCKETS_PASSIVE = new Quirk("sockets-passive-endpoints", SOCKETS, from(1, 15), """
            An endpoint that was opened with a passive endpoint, and has not connected, takes it for a request in its \
            fi_close, and frees a part of it.""", "ConnectionTest", Fact.PASSIVE_ENDPOINTS_FREED_BY_OTHERS);

    /** What these share never looks at the events of a counter; no other software provider opens one. */
    private static final Quirk UTIL_COUNTERS = new Quirk("util-counters", COUNTING, from(1, 15), """
            A counter of bytes (FI_CNTR_EVENTS_BYTES) counts operations.""", "RareCallsTest", Fact.BYTES_UNCOUNTED);

    /** 1.19.0 brought it, 9a969ad03 (1.20.0) mended it. efa is by its source: it uses the same code. */
    private static final Quirk UTIL_ERROR_ENTRIES = new Quirk("util-error-entries", SHARING, from(1, 19).to(1, 19), """
            The error entry of a receive that is canceled, or whose endpoint is closed, is not zeroed: data of an \
            error are copied from anywhere if there is room for them.""", "CanceledReceiveTest", Fact.ERROR_DATA_UNSET);

    private static final Quirk SOCKETS_COUNTERS = new Quirk("sockets-counters", SOCKETS, from(1, 15), """
            fi_cntr_wait is in a table of the provider's own. A counter with FI_WAIT_FD writes a byte to its socket \
            for each count, which fi_cntr_wait does not read: once the socket is full, a count never returns.""",
            "CounterTest", Fact.OWN_COUNTER_TABLE, Fact.COUNTER_DESCRIPTORS_FILL_UP);

    private static final Quirk SOCKETS_SYMMETRIC = new Quirk("sockets-symmetric", SOCKETS, from(1, 15), """
            fi_av_insertsym writes the numbers of all addresses to the first place, and does not say which it \
            refused.""", "AddressVectorTest", Fact.SYMMETRIC_HAS_ONE_PLACE);

    /** In sm2's first release, and in today's main. */
    private static final Quirk SM2_OPTIONS = new Quirk("sm2-options", SM2, from(1, 18), """
            Reading or setting FI_OPT_MIN_MULTI_RECV of an endpoint that is not enabled ends the process.""", "Sm2Test",
            Fact.OPTIONS_NEED_ENABLE, Fact.RECEIVE_OPTIONS_NEED_ENABLE);

    /** In 1.19.0, and in today's main. */
    private static final Quirk SM2_UNTAKEN_MESSAGES = new Quirk("sm2-untaken-messages", SM2, from(1, 19), """
            A message that is discarded, or that waits when its endpoint is closed, has the provider wait for a lock \
            that it holds.""", "UntakenMessagesTest", Fact.UNTAKEN_MESSAGES_BREAK_CLOSE, Fact.DISCARDS_HANG);

    /** In 1.19.0, and in today's main: the memory that is shared belongs to it from its enabling on. */
    private static final Quirk SM2_CLOSES = new Quirk("sm2-close-without-enable", SM2, from(1, 19), """
            Closing an endpoint that was never enabled ends the process.""", "Sm2Test", Fact.CLOSE_NEEDS_ENABLE);

    /** As in shm-directed-receives, by the same code. */
    private static final Quirk SM2_DIRECTED_RECEIVES = new Quirk("sm2-directed-receives", SM2, from(1, 19), """
            A receive of messages without tags from one peer overwrites the provider's memory beside one from any \
            peer, and ends the process when it is canceled.""", "Sm2Test", Fact.DIRECTED_RECEIVES_CRASH);

    /** In 1.19.0, and in today's main. */
    private static final Quirk SM2_LOOKUPS = new Quirk("sm2-lookups", SM2, from(1, 19), """
            fi_av_lookup leaves out the zero at the end of a name.""", "Sm2Test", Fact.LOOKUP_INEXACT);

    /** ucx_av_insert sets no address that ucx_av_lookup could copy, in ucx's first release and in today's main. */
    private static final Quirk UCX_LOOKUPS = new Quirk("ucx-lookups", UCX, from(1, 18), """
            fi_av_lookup ends the process, unless FI_UCX_ENABLE_SPAWN is set.""", "UcxTest", Fact.LOOKUP_INEXACT);

    /** In ucx's first release, and in today's main: ucx_av_insert and ucx_av_remove use the vector's endpoint. */
    private static final Quirk UCX_INSERTIONS = new Quirk("ucx-insertions", UCX, from(1, 18), """
            An address is inserted by the endpoint that was bound to the vector last: without one, or once it is \
            closed, the process ends.""", "UcxTest", Fact.INSERTS_NEED_ENDPOINT);

    /**
     * 7ee094f79 (2.2.0) brought it, and today's main has it: fi_close leaves the endpoint in the vector's list, which
     * lnx_av_insert goes through, and a peer that is inserted without one is reached by none.
     */
    private static final Quirk LNX_INSERTIONS = new Quirk("lnx-insertions", LNX, from(2, 2), """
            A closed endpoint stays in its vector's list of endpoints, which an insertion reads: the process ends. A \
            peer that is inserted before an endpoint is bound is reached by none: a send never returns.""",
            "LinkedProvidersTest", Fact.INSERTS_NEED_ENDPOINT);

    /** 7ee094f79 (2.2.0) brought it, and today's main has it: what is below has one shared context for each domain. */
    private static final Quirk LNX_ENDPOINTS = new Quirk("lnx-endpoints", LNX, from(2, 2), """
            A domain has one endpoint: another is not enabled over some links, and its first send ends the process \
            over others. One that was closed before it was enabled has a number that the next lacks.""",
            "LinkedProvidersTest", Fact.DOMAINS_HAVE_ONE_ENDPOINT);

    /**
     * In 2.2.0, and in today's main: lnx_tsendv passes one description for all, and lnx_init_rx_entry copies several.
     */
    private static final Quirk LNX_SEGMENTS = new Quirk("lnx-segments", LNX, from(2, 2), """
            A message of several segments gets the description of the first alone; what is below reads as many as \
            there are segments, which ends the process on 2.4.""", "LinkedProvidersTest",
            Fact.MESSAGES_HAVE_ONE_SEGMENT);

    /** bf66b48c1 (1.17.0) mended it. */
    private static final Quirk SOCKETS_REMOVALS = new Quirk("sockets-removals", SOCKETS, from(1, 15).to(1, 16), """
            fi_av_remove of a peer to which a connection is being made ends the process. The peer stays in the \
            provider's vector until that is closed.""", "ModelTest") {
        @Override
        protected int removePeer(Handle vector, EndpointAddress address, IntSupplier removal) { return 0; }
    };

    /** 3ade989f9 brought it. */
    private static final Quirk SOCKETS_UNCONNECTED = new Quirk("sockets-unconnected-peers", SOCKETS, from(2, 5), """
            fi_av_remove returns an error for a peer that no connection was made to, and removes it all the same.""",
            "AddressVectorTest") {
        @Override
        protected int removePeer(Handle vector, EndpointAddress address, IntSupplier removal) {
            int status = removal.getAsInt();
            return status == -Errno.EINVAL ? 0 : status;
        }
    };

    private static final Quirk SOCKETS_MESSAGE_DATA = new Quirk("sockets-message-data", SOCKETS, from(1, 15), """
            A message with completion data that came before its receive may be reported without FI_REMOTE_CQ_DATA, \
            but with the data.""", "MessagesTest", Fact.MESSAGE_DATA_UNFLAGGED);

    private static final Quirk SOCKETS_SHARED_RECEIVES = new Quirk("sockets-shared-receives", SOCKETS, from(1, 15), """
            A receive of a shared context that is canceled gives no completion, and a look for a message there ends \
            the process.""", "SharedContextTest", Fact.SHARED_RECEIVES_END_SILENTLY, Fact.SHARED_LOOKS_CRASH);

    private static final Quirk SOCKETS_SCALABLE = new Quirk("sockets-scalable-endpoints", SOCKETS, from(1, 15), """
            A scalable endpoint visits contexts of it that were closed: when it is enabled and, with manual \
            progress, in every poll.""", "ScalableEndpointTest", Fact.CLOSED_CONTEXTS_ARE_VISITED);

    private static final Quirk SOCKETS_DEFERRED_WORK = new Quirk("sockets-deferred-work", SOCKETS, from(1, 15), """
            Deferred work cannot be canceled, and uses its endpoint after fi_close; thresholds have 32 bits; work \
            starts inside the locks of what caused it; some remote segments of atomic operations are lost.""",
            "DeferredWorkTest", Fact.COUNTERS_HAVE_32_BITS, Fact.DEFERRED_WORK_STARTS_INSIDE_LOCKS,
            Fact.DEFERRED_ATOMICS_LOSE_TARGETS);

    private static final Quirk RXD_MESSAGES = new Quirk("rxd-messages", RXD, from(1, 15), """
            A message that is sent with FI_INJECT never completes, and neither does one that is discarded.""",
            "MessagesTest", Fact.INJECTED_MESSAGES_HANG, Fact.DISCARDED_SENDS_HANG);

    private static final Quirk RXD_CLAIMS = new Quirk("rxd-claims", RXD, from(1, 15), """
            A claimed message of several packets is received with the room of its first.""", "MessageProgramTest",
            Fact.CLAIMS_TRUNCATE);

    private static final Quirk RXD_MANY_MESSAGES = new Quirk("rxd-many-messages", RXD, from(1, 15), """
            A message longer than what is left of a receive of many messages is written beyond its end.""",
            "ManyMessagesTest", Fact.LONG_MESSAGES_OVERWRITE);

    private static final Quirk RXD_READS = new Quirk("rxd-reads", RXD, from(1, 15), """
            A read of no bytes never completes.""", "RmaCallsTest", Fact.EMPTY_READS_HANG);

    private static final Quirk RXD_LENGTHS = new Quirk("rxd-lengths", RXD, from(1, 15), """
            The remaining length of an operation is cut to 32 bits: where exactly 4 GiB remain, it sends empty \
            packets for ever.""", "QuirksTest", Fact.LENGTHS_HAVE_32_BITS);

    /**
     * 1ab44bfad (2.5) mended fetches. Main still loses atomic operations that are posted when no entry is free
     * (rxd_generic_atomic and rxd_atomic_inject return 0), and handles no packet of a peer behind one with a wrong key
     * (rxd_rx_atomic_fetch, rxd_rma_rx_entry_init).
     */
    private static final Quirk RXD_ATOMICS = new Quirk("rxd-atomics", RXD, from(1, 15), """
            Injects and other atomic operations may be lost, a wrong key stops all later operations, and up to 2.4 a \
            fetch as the first atomic operation with a peer is wrong or ends the process.""", "AtomicsRefusedTest",
            Fact.ATOMICS_BREAK);

    private static final Quirk RXD_COUNTERS = new Quirk("rxd-counters", RXD, from(1, 15), """
            Opening a counter puts a fi_cntr_wait that knows only the provider's own endpoints into a table that \
            providers share.""", "CounterTest", Fact.SPOILS_COUNTER_WAIT);

    private static final Quirk RXD_ADDRESSES = new Quirk("rxd-addresses", RXD, from(1, 15), """
            An endpoint has its port from the start, and fi_av_lookup does not find the first address.""",
            "ChosenAddressTest", Fact.FIXED_ADDRESSES, Fact.LOOKUP_INEXACT);

    /** No write of a completion has a source. */
    private static final Quirk RXD_SOURCES = new Quirk("rxd-sources", RXD, from(1, 15), """
            The source of a completion is 0, whoever has sent the message.""", "UnknownSourceTest",
            Fact.SOURCES_MISSING);

    static final List<Quirk> ALL = List.of(new VariableLimits(), new UdpJoins(), SOCKETS_PLACES, SOCKETS_SHUTDOWN,
            SOCKETS_CONNECTS, SOCKETS_PASSIVE, UTIL_COUNTERS, UTIL_ERROR_ENTRIES, SOCKETS_COUNTERS, SOCKETS_SYMMETRIC,
            SM2_OPTIONS, SM2_UNTAKEN_MESSAGES, SM2_CLOSES, SM2_DIRECTED_RECEIVES, SM2_LOOKUPS, UCX_LOOKUPS,
            UCX_INSERTIONS, LNX_INSERTIONS, LNX_ENDPOINTS, LNX_SEGMENTS, SOCKETS_REMOVALS, SOCKETS_UNCONNECTED,
            SOCKETS_MESSAGE_DATA, SOCKETS_SHARED_RECEIVES, SOCKETS_SCALABLE, SOCKETS_DEFERRED_WORK, RXD_MESSAGES,
            RXD_CLAIMS, RXD_MANY_MESSAGES, RXD_READS, RXD_LENGTHS, RXD_ATOMICS, RXD_COUNTERS, RXD_ADDRESSES,
            RXD_SOURCES);

    private OtherQuirks() {}
}
