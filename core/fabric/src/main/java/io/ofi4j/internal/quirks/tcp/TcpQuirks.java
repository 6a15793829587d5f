package io.ofi4j.internal.quirks.tcp;

import static io.ofi4j.info.VersionRange.from;
import static java.util.function.Predicate.not;

import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;
import java.util.function.Predicate;

/**
 * The quirks of {@code tcp} and, on libfabric 1.16 and 1.17, {@code net}, also where {@code ofi_rxm} is layered on
 * them. {@code tcp} of 1.15 to 1.17 is another provider than {@code tcp} of 1.18 and newer, which is {@code net}.
 * Ranges without a comment are by source: both have the behaviour.
 */
public final class TcpQuirks {
    private static final String TAGS_LACK_A_PEER = """
            A tagged message of a connected endpoint that no receive awaits is kept for its peer, which connected \
            endpoints do not have: the process ends.""";

    private static final Predicate<Provider> TCP = provider -> provider.is("tcp");
    private static final Predicate<Provider> NET = provider -> provider.is("net");
    private static final Predicate<Provider> TCP_OR_NET = TCP.or(NET);
    private static final Predicate<Provider> CONNECTED_TCP = TCP.and(Provider::isConnected);
    private static final Predicate<Provider> CONNECTED_NET = NET.and(Provider::isConnected);
    private static final Predicate<Provider> UNCONNECTED = TCP_OR_NET.and(not(Provider::isConnected));
    private static final Predicate<Provider> NET_RDM = NET.and(not(Provider::isConnected));
    /** Each queue becomes a domain of its own. */
    private static final Predicate<Provider> BY_QUEUE = TCP.and(not(Provider::isConnected))
            .and(provider -> provider.threading() == ThreadingModel.COMPLETION);
    /** Also with another provider layered on it. */
    private static final Predicate<Provider> CORE = provider -> provider.hasCore("tcp", "net");

    private static final Quirk PASSIVE_ENDPOINTS = new Quirk("tcp-passive-endpoints", TCP_OR_NET, from(1, 15), """
            A connection that has not said yet what it wants refers to its passive endpoint, be that freed or not.""",
            "ConnectionTest", Fact.PASSIVE_ENDPOINTS_STAY);

    /** {@code net} brought it, with unconnected endpoints; tcp of 1.18 and newer is net. */
    private static final Quirk LATE_CONNECTIONS = new Quirk("tcp-late-connections", UNCONNECTED, from(1, 16), """
            A connection that was accepted and has not said yet what it wants refers to its endpoint; where that is \
            closed by then, the next progress ends the process. A moment of progress before the close makes that \
            unlikely, no more.""", "PeerSurvivalTest", Fact.CONNECTIONS_OUTLIVE_CLOSE);

    private static final Quirk REMOTE_COUNTERS = new Quirk("tcp-remote-counters", TCP_OR_NET, from(1, 15), """
            Counters of peers' operations count writes with data only.""", "CounterTest", Fact.COUNTS_DATA_WRITES_ONLY);

    private static final Quirk DIRECTED_RECEIVES = new Quirk("tcp-directed-receives", TCP_OR_NET, from(1, 15), """
            A receive of messages without tags takes those of any peer, whichever is named.""", "MessagesTest",
            Fact.DIRECTED_RECEIVES_IGNORED);

    /** 5b08723bf brought it. */
    private static final Quirk QUEUE_DOMAINS = new Quirk("tcp-queue-domains", BY_QUEUE, from(2, 0), """
            With the threading model COMPLETION each queue becomes a domain of its own when its first endpoint is \
            enabled; what is used before, or with another queue, ends the process.""", "CompletionThreadingTest",
            Fact.QUEUES_ARE_DOMAINS, Fact.QUEUE_DOMAINS_LACK_WAIT_OBJECTS, Fact.QUEUE_DOMAINS_DIVIDE_ENDPOINTS,
            Fact.QUEUE_DOMAINS_DIVIDE_COUNTERS, Fact.QUEUE_DOMAINS_COPY_PEERS, Fact.CLOSE_NEEDS_VECTOR);

    /** {@code net} has it from 1.17 on, and became tcp with 5ce675a6c (1.18). */
    private static final Quirk TAGS = new Quirk("tcp-connected-tags", CONNECTED_TCP, from(1, 18), TAGS_LACK_A_PEER,
            "SharedContextTest", Fact.CONNECTED_TAGS_CRASH);

    private static final Quirk NET_TAGS = new Quirk("net-connected-tags", CONNECTED_NET, from(1, 17).to(1, 17),
            TAGS_LACK_A_PEER, "SharedContextTest", Fact.CONNECTED_TAGS_CRASH);

    /** 5b08723bf brought it. */
    private static final Quirk SERVICE_INSERTIONS = new Quirk("tcp-service-insertions", BY_QUEUE, from(2, 0), """
            With the threading model COMPLETION fi_av_insertsvc waits for a lock that it holds.""",
            "CompletionThreadingTest", Fact.SERVICE_INSERTIONS_HANG);

    /** dbec7405f brought it. */
    private static final Quirk UNCOUNTED_REGIONS = new Quirk("tcp-uncounted-regions", BY_QUEUE, from(2, 2), """
            A region without rights for peers that is older than a queue's domain is not counted there when it is \
            registered, but when it is closed: the fabric then seems to be in use, and stays until the process ends.""",
            "CompletionThreadingTest", Fact.FABRICS_SEEM_BUSY);

    /** 5ce675a6c (1.18.0) replaced it by {@code net}, whose reads of both kinds of queues take one lock. */
    private static final Quirk EVENT_READS = new Quirk("tcp-event-reads", CONNECTED_TCP, from(1, 15).to(1, 17), """
            A read of an event queue that finds a connection refused completes the receives of its endpoint. With an \
            owner's threading model neither this nor a read of the completion queue takes a lock.""", "ConnectionTest",
            Fact.EVENT_READS_COMPLETE);

    /** 35164c062 mended it. */
    private static final Quirk READS_FREED_TWICE = new Quirk("tcp-reads-freed-twice", CORE, from(1, 15).to(1, 17), """
            A read whose answer has begun to come is freed twice when its endpoint is closed.""", "ClosedUnderReadTest",
            Fact.DRAIN_READS_BEFORE_CLOSE);

    /** {@code net} brought it, e6176a31c (1.18.0) mended it. */
    private static final Quirk NET_CLOSES = new Quirk("net-close-without-vector", NET_RDM, from(1, 16).to(1, 17), """
            Closing an endpoint looks into its vector, also where none was bound.""", "LifeCycleTest",
            Fact.CLOSE_NEEDS_VECTOR);

    /** {@code net} brought it, 1e1ff9438 and 084d1463a (1.17.0) mended it. */
    private static final Quirk NET_CLAIMS = new Quirk("net-claims", NET, from(1, 16).to(1, 16), """
            The receive of a claimed or discarded message has no number of segments: the message goes to none, or to \
            those of an earlier receive.""", "TaggedTest", Fact.CLAIMS_LOSE_MESSAGES, Fact.DISCARDS_INCOMPLETE);

    /** {@code net} brought it. */
    private static final Quirk NET_DESCRIPTOR = new Quirk("net-descriptor", NET, from(1, 16).to(1, 17), """
            fi_trywait does not reset the descriptor of a queue, fi_cq_sread does.""", "EpollTest",
            Fact.DESCRIPTOR_RESET_BY_READ);

    /** {@code net} became tcp with 5ce675a6c, 9057c4c95 (1.18.1) mended it. */
    private static final Quirk DESCRIPTOR = new Quirk("tcp-descriptor", TCP, from(1, 18).to(1, 18), """
            In 1.18.0 fi_trywait does not reset the descriptor of a queue, fi_cq_sread does.""", "EpollTest",
            Fact.DESCRIPTOR_RESET_BY_READ);

    /** All of them. */
    public static final List<Quirk> ALL = List.of(PASSIVE_ENDPOINTS, LATE_CONNECTIONS, REMOTE_COUNTERS,
            DIRECTED_RECEIVES, QUEUE_DOMAINS, TAGS, NET_TAGS, SERVICE_INSERTIONS, UNCOUNTED_REGIONS, EVENT_READS,
            READS_FREED_TWICE, NET_CLOSES, NET_CLAIMS, NET_DESCRIPTOR, DESCRIPTOR);

    private TcpQuirks() {}
}
