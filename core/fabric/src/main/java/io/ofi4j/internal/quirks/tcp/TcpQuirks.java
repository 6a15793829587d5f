package io.ofi4j.internal.quirks.tcp;

import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;

/**
 * The quirks of {@code tcp} and, on libfabric 1.16 and 1.17, {@code net}, also where {@code ofi_rxm} is layered on
 * them. {@code tcp} of 1.15 to 1.17 is another provider than {@code tcp} of 1.18 and newer, which is {@code net}.
 * Ranges without a comment are by source: both have the behaviour.
 */
public final class TcpQuirks {
    private static final String TAGS_LACK_A_PEER = "A tagged message of a connected endpoint that no receive awaits is"
            + " kept for its peer, which connected endpoints do not have: the process ends.";

    /** All of them. */
    public static final List<Quirk> ALL = List.of(new Quirk("tcp-passive-endpoints", TcpQuirks::isTcpOrNet,
            VersionRange.from(1, 15),
            "A connection that has not said yet what it wants refers to its passive endpoint, be that freed or not.",
            "ConnectionTest", Fact.PASSIVE_ENDPOINTS_STAY),
            // net brought it, with unconnected endpoints; tcp of 1.18 and newer is net
            new Quirk("tcp-late-connections", provider -> isTcpOrNet(provider) && !provider.isConnected(),
                    VersionRange.from(1, 16),
                    "A connection that was accepted and has not said yet what it wants refers to its endpoint; where"
                            + " that is closed"
                            + " by then, the next progress ends the process. A moment of progress before the close"
                            + " makes that unlikely, no more.",
                    "PeerSurvivalTest", Fact.CONNECTIONS_OUTLIVE_CLOSE),
            new Quirk("tcp-remote-counters", TcpQuirks::isTcpOrNet, VersionRange.from(1, 15),
                    "Counters of peers' operations count writes with data only.", "CounterTest",
                    Fact.COUNTS_DATA_WRITES_ONLY),
            new Quirk("tcp-directed-receives", TcpQuirks::isTcpOrNet, VersionRange.from(1, 15),
                    "A receive of messages without tags takes those of any peer, whichever is named.", "MessagesTest",
                    Fact.DIRECTED_RECEIVES_IGNORED),
            // 5b08723bf brought it
            new Quirk("tcp-queue-domains", TcpQuirks::hasQueueDomains, VersionRange.from(2, 0),
                    "With the threading model COMPLETION each queue becomes a domain of its own when its first"
                            + " endpoint is"
                            + " enabled; what is used before, or with another queue, ends the process.",
                    "CompletionThreadingTest", Fact.QUEUES_ARE_DOMAINS, Fact.QUEUE_DOMAINS_LACK_WAIT_OBJECTS,
                    Fact.QUEUE_DOMAINS_DIVIDE_ENDPOINTS, Fact.QUEUE_DOMAINS_DIVIDE_COUNTERS,
                    Fact.QUEUE_DOMAINS_COPY_PEERS, Fact.CLOSE_NEEDS_VECTOR),
            // net has it from 1.17 on, and became tcp with 5ce675a6c (1.18)
            new Quirk("tcp-connected-tags", provider -> provider.is("tcp") && provider.isConnected(),
                    VersionRange.from(1, 18), TAGS_LACK_A_PEER, "SharedContextTest", Fact.CONNECTED_TAGS_CRASH),
            new Quirk("net-connected-tags", provider -> provider.is("net") && provider.isConnected(),
                    VersionRange.from(1, 17).to(1, 17), TAGS_LACK_A_PEER, "SharedContextTest",
                    Fact.CONNECTED_TAGS_CRASH),
            // 5b08723bf brought it
            new Quirk("tcp-service-insertions", TcpQuirks::hasQueueDomains, VersionRange.from(2, 0),
                    "With the threading model COMPLETION fi_av_insertsvc waits for a lock that it holds.",
                    "CompletionThreadingTest", Fact.SERVICE_INSERTIONS_HANG),
            // dbec7405f brought it
            new Quirk("tcp-uncounted-regions", TcpQuirks::hasQueueDomains, VersionRange.from(2, 2),
                    "A region without rights for peers that is older than a queue's domain is not counted there when"
                            + " it is"
                            + " registered, but when it is closed: the fabric then seems to be in use, and stays until"
                            + " the process ends.",
                    "CompletionThreadingTest", Fact.FABRICS_SEEM_BUSY),
            // 35164c062 mended it
            new Quirk("tcp-reads-freed-twice", provider -> provider.hasCore("tcp", "net"),
                    VersionRange.from(1, 15).to(1, 17),
                    "A read whose answer has begun to come is freed twice when its endpoint is closed.",
                    "ClosedUnderReadTest", Fact.DRAIN_READS_BEFORE_CLOSE),
            // net brought it, e6176a31c (1.18.0) mended it
            new Quirk("net-close-without-vector", provider -> provider.is("net") && !provider.isConnected(),
                    VersionRange.from(1, 16).to(1, 17),
                    "Closing an endpoint looks into its vector, also where none was bound.", "LifeCycleTest",
                    Fact.CLOSE_NEEDS_VECTOR),
            // net brought it, 1e1ff9438 and 084d1463a (1.17.0) mended it
            new Quirk("net-claims", provider -> provider.is("net"), VersionRange.from(1, 16).to(1, 16),
                    "The receive of a claimed or discarded message has no number of segments: the message goes to"
                            + " none, or to those of an earlier receive.",
                    "TaggedTest", Fact.CLAIMS_LOSE_MESSAGES, Fact.DISCARDS_INCOMPLETE),
            // net brought it
            new Quirk("net-descriptor", provider -> provider.is("net"), VersionRange.from(1, 16).to(1, 17),
                    "fi_trywait does not reset the descriptor of a queue, fi_cq_sread does.", "EpollTest",
                    Fact.DESCRIPTOR_RESET_BY_READ),
            // net became tcp with 5ce675a6c, 9057c4c95 (1.18.1) mended it
            new Quirk("tcp-descriptor", provider -> provider.is("tcp"), VersionRange.from(1, 18).to(1, 18),
                    "In 1.18.0 fi_trywait does not reset the descriptor of a queue, fi_cq_sread does.", "EpollTest",
                    Fact.DESCRIPTOR_RESET_BY_READ));

    private TcpQuirks() {}

    private static boolean hasQueueDomains(Provider provider) {
        return provider.is("tcp") && !provider.isConnected() && provider.threading() == ThreadingModel.COMPLETION;
    }

    private static boolean isTcpOrNet(Provider provider) { return provider.is("tcp", "net"); }
}
