package io.ofi4j.internal.quirks.tcp;

import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.TestedVersions;
import java.util.List;

/** The quirks of {@code tcp} and, on libfabric 1.x, {@code net}, also where {@code ofi_rxm} is layered on them. */
public final class TcpQuirks {
    private static final String TAGS_LACK_A_PEER = "A tagged message of a connected endpoint that no receive awaits is kept for its"
            + " peer, which connected endpoints do not have: the process ends.";

    /** All of them. */
    public static final List<Quirk> ALL = List.of(new Quirk("tcp-passive-endpoints", TcpQuirks::isTcpOrNet,
            TestedVersions.ALL,
            "A connection that has not said yet what it wants refers to its passive endpoint, be that freed or not.",
            "ConnectionTest", Fact.PASSIVE_ENDPOINTS_STAY),
            new Quirk("tcp-late-connections", provider -> isTcpOrNet(provider) && !provider.isConnected(),
                    TestedVersions.ALL,
                    "A connection that was accepted and has not said yet what it wants refers to its endpoint; where"
                            + " that is closed"
                            + " by then, the next progress ends the process. A moment of progress before the close"
                            + " makes that" + " unlikely, no more.",
                    "PeerSurvivalTest", Fact.CONNECTIONS_OUTLIVE_CLOSE),
            new Quirk("tcp-remote-counters", TcpQuirks::isTcpOrNet, TestedVersions.ALL,
                    "Counters of peers' operations count writes with data only.", "CounterTest",
                    Fact.COUNTS_DATA_WRITES_ONLY),
            new Quirk("tcp-directed-receives", TcpQuirks::isTcpOrNet, TestedVersions.ALL,
                    "A receive of messages without tags takes those of any peer, whichever is named.", "MessagesTest",
                    Fact.DIRECTED_RECEIVES_IGNORED),
            new Quirk("tcp-queue-domains", TcpQuirks::hasQueueDomains, TestedVersions.VERSION_2,
                    "With the threading model COMPLETION each queue becomes a domain of its own when its first"
                            + " endpoint is"
                            + " enabled; what is used before, or with another queue, ends the process.",
                    "CompletionThreadingTest", Fact.QUEUES_ARE_DOMAINS, Fact.QUEUE_DOMAINS_LACK_WAIT_OBJECTS,
                    Fact.QUEUE_DOMAINS_DIVIDE_ENDPOINTS, Fact.QUEUE_DOMAINS_DIVIDE_COUNTERS,
                    Fact.QUEUE_DOMAINS_COPY_PEERS, Fact.CLOSE_NEEDS_VECTOR),
            new Quirk("tcp-connected-tags", provider -> provider.is("tcp") && provider.isConnected(),
                    TestedVersions.VERSION_2, TAGS_LACK_A_PEER, "SharedContextTest", Fact.CONNECTED_TAGS_CRASH),
            new Quirk("net-connected-tags", provider -> provider.is("net") && provider.isConnected(),
                    TestedVersions.VERSION_1, TAGS_LACK_A_PEER, "SharedContextTest", Fact.CONNECTED_TAGS_CRASH),
            new Quirk("tcp-service-insertions", TcpQuirks::hasQueueDomains, TestedVersions.VERSION_2,
                    "With the threading model COMPLETION fi_av_insertsvc waits for a lock that it holds.",
                    "CompletionThreadingTest", Fact.SERVICE_INSERTIONS_HANG),
            new Quirk("tcp-uncounted-regions", TcpQuirks::hasQueueDomains, TestedVersions.NEWEST,
                    "A region without rights for peers that is older than a queue's domain is not counted there when"
                            + " it is"
                            + " registered, but when it is closed: the fabric then seems to be in use, and stays until"
                            + " the process" + " ends.",
                    "CompletionThreadingTest", Fact.FABRICS_SEEM_BUSY),
            new Quirk("tcp-reads-freed-twice", provider -> provider.hasCore("tcp", "net"), TestedVersions.VERSION_1,
                    "A read whose answer has begun to come is freed twice when its endpoint is closed.",
                    "ClosedUnderReadTest", Fact.DRAIN_READS_BEFORE_CLOSE),
            new Quirk("net-close-without-vector", provider -> provider.is("net") && !provider.isConnected(),
                    TestedVersions.VERSION_1, "Closing an endpoint looks into its vector, also where none was bound.",
                    "LifeCycleTest", Fact.CLOSE_NEEDS_VECTOR),
            new Quirk("net-descriptor", provider -> provider.is("net"), TestedVersions.VERSION_1,
                    "fi_trywait does not reset the descriptor of a queue, fi_cq_sread does.", "EpollTest",
                    Fact.DESCRIPTOR_RESET_BY_READ));

    private TcpQuirks() {}

    private static boolean hasQueueDomains(Provider provider) {
        return provider.is("tcp") && !provider.isConnected() && provider.threading() == ThreadingModel.COMPLETION;
    }

    private static boolean isTcpOrNet(Provider provider) { return provider.is("tcp", "net"); }
}
