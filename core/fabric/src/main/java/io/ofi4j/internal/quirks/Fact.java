package io.ofi4j.internal.quirks;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.NativeLibrary;
import java.util.EnumSet;
import java.util.Set;

/**
 * What is known of a provider beyond the man pages. Where none is known, ofi4j makes plain calls and expects what the
 * man pages promise. Facts are copied into final fields when an object is opened; the data path never looks them up. A
 * fact for which something is refused carries the words: the exception, and the table in
 * {@code core/guide/REFUSALS.md}, are made of them.
 */
public enum Fact {
    /** A call that posts neither blocks, nor calls back, nor waits for another process: it may be {@code critical}. */
    CRITICAL_POSTS,
    /** A call that polls takes microseconds at most, and neither blocks nor calls back: it may be {@code critical}. */
    CRITICAL_POLLS,
    /** The peer answers an operation with DELIVERY_COMPLETE only when all earlier writes are in its memory. */
    FLUSHES_IN_ORDER,
    /** When a flush has completed, messages that were posted before it are in the receives that have taken them. */
    FLUSHES_COVER_MESSAGES,
    /**
     * Atomic operations are carried out in polls of the target, behind writes and reads that were posted after them.
     */
    ATOMICS_GO_APART,
    /** fi_cntr_wait returns in time and not too early, with the wait objects FD and UNSPECIFIED. */
    BLOCKING_COUNTER_WAIT,
    /** fi_cntr_wait is in a table that this provider shares with no other one. */
    OWN_COUNTER_TABLE,
    /**
     * Opening a counter puts a fi_cntr_wait that knows this provider's endpoints only into a table that providers
     * share.
     */
    SPOILS_COUNTER_WAIT,
    /**
     * A counter with a descriptor writes to it for each count, and nobody reads: once it is full, a count never ends.
     */
    COUNTER_DESCRIPTORS_FILL_UP,
    /** After the close of an endpoint the wait objects of its queues and counters may point to freed memory. */
    STALE_WAIT_OBJECTS,
    /** The descriptor of a queue becomes quiet in fi_cq_sread only, not in fi_trywait. */
    DESCRIPTOR_RESET_BY_READ,
    /** A read of no bytes never completes. */
    EMPTY_READS_HANG,
    /** A write of no bytes with DELIVERY_COMPLETE may complete before earlier writes are in the peer's memory. */
    EMPTY_DELIVERIES_OVERTAKE,
    /** A write of no bytes with DELIVERY_COMPLETE never completes. */
    EMPTY_DELIVERIES_HANG("writes and messages of no bytes with DELIVERY_COMPLETE", "never completes them",
            "leave the flag or the operation out, or use libfabric 2"),
    /** A read into several local segments fills the first one only, and completes. */
    READS_FILL_ONE_SEGMENT("reads into several local segments",
            "fills only the first on Soft-iWARP, yet completes them",
            "read into each segment with an operation of its own"),
    /** A collective operation whose members send each other more than 16 KiB at once hangs, or ends the process. */
    LONG_COLLECTIVES_BREAK("collective operations whose members send each other more than 16 KiB at once",
            "hangs then, or ends the process", "do them in parts, or use JobCollectives"),
    /** A collective operation that finds no room for its receive is forgotten, and never completes. */
    COLLECTIVES_NEED_RECEIVES,
    /** A broadcast of elements that the members cannot share evenly writes beyond them. */
    UNEVEN_BROADCASTS_OVERRUN("broadcasts of elements that the members cannot share evenly",
            "writes beyond the elements", "use a multiple of the number of members"),
    /** Collective operations are messages with tags, which other receives must not match. */
    COLLECTIVES_USE_TAGS("collective operations and tagged messages of one endpoint",
            "ends the process if a receive of any tag meets what members send each other", "use an endpoint for each"),
    /** Atomic operations fail, are wrong, or end the process. */
    ATOMICS_BREAK("atomic operations", "fails in them, gives wrong results, or ends the process",
            "use another provider"),
    /** Of atomic operations only reads and writes of integers of 64 bits do what they should. */
    ATOMICS_ONLY_COPY("atomic operations other than ATOMIC_READ and ATOMIC_WRITE of 64-bit integers",
            "takes addresses for values, or changes what is beside the target", "use these two, or another provider"),
    /** An atomic operation of a float is one of an integer of 64 bits. */
    ATOMICS_OF_FLOATS_BREAK("atomic operations of FLOAT and DOUBLE",
            "takes them for 64-bit integers, and changes what is beside a FLOAT",
            "use 64-bit integers, or another provider"),
    /** An atomic operation of integers of 128 bits ends the process. */
    WIDE_ATOMICS_CRASH("atomic operations of 128-bit integers", "may end the process in them",
            "use 64-bit integers, or libfabric 1.17 or newer"),
    /** ATOMIC_READ completes without the value. */
    ATOMIC_READS_RETURN_NOTHING("ATOMIC_READ", "completes it without the value",
            "fetch with SUM or BOR of 0, read, or use libfabric 1.22 or newer"),
    /** An atomic operation with completion data is refused, or spoils the target. */
    ATOMICS_CARRY_NO_DATA("atomic operations with REMOTE_CQ_DATA",
            "takes no data with them, or leaves wrong bytes at the target",
            "tell the peer with a write that has data, or with a message"),
    /** fi_atomicmsg with FI_INJECT gives no completion. */
    ATOMIC_INJECTS_ARE_SILENT("prepared atomic operations with INJECT", "never completes them", "use Atomics.inject"),
    /** The source address of a completion is right for messages only. */
    SOURCES_OF_MESSAGES_ONLY,
    /** The provider claims FI_SOURCE, and tells no source. */
    SOURCES_MISSING,
    /** The source of a peer that is not in the vector is 0; {@link Quirk#placeholder} takes that number. */
    UNKNOWN_SOURCES_ARE_ZERO,
    /** A poll, or the post of a receive, may never return once a message is longer than its receive. */
    LONG_MESSAGES_STOP_CALLS,
    /** A message that is longer than what is left of a receive of many messages overwrites what is behind it. */
    LONG_MESSAGES_OVERWRITE("receives of many messages whose longest message is not known",
            "could overwrite what is behind them when a message is too long",
            "promise a length with Endpoint.longestMessage, or post a receive for each message"),
    /** A message that is claimed is received nowhere, and completes with any length. */
    CLAIMS_LOSE_MESSAGES("claims of messages", "loses what is claimed, and may overwrite memory",
            "receive the message, or use libfabric 1.17 or newer"),
    /** A claim takes the first of the segments that a message comes in; the others, and the process, are lost. */
    CLAIMS_TAKE_ONE_SEGMENT("claims of messages", "takes a part of a long message, and may end the process",
            "receive the message"),
    /** A message that is claimed may be cut short. */
    CLAIMS_TRUNCATE("claims of messages", "delivers messages that may be cut short", "receive the message"),
    /** Where there is no room for another receive, posting it fails with ENOMEM. */
    FULL_RECEIVES_LACK_MEMORY,
    /** A receive of a shared context that is canceled gives no completion. */
    SHARED_RECEIVES_END_SILENTLY("cancels of receives of a shared context", "does not give them back",
            "close the context, which ends its receives"),
    /** A tagged message over a connection ends the receiving process if no receive awaits it. */
    CONNECTED_TAGS_CRASH("tagged messages of connected endpoints",
            "may end the process when one comes before its receive",
            "use messages without tags, or endpoints without connections"),
    /** A context of a scalable endpoint that is closed is visited by polls of others, with manual progress. */
    CLOSED_CONTEXTS_ARE_VISITED("scalable endpoints with manual progress", "visits closed contexts in polls",
            "use ProgressModel.AUTO"),
    /** A look for a tagged message in a shared context ends the process. */
    SHARED_LOOKS_CRASH("looks for a message in a shared context", "ends the process then", "post a receive"),
    /** A receive of messages without tags takes those of any peer, whichever is named. */
    DIRECTED_RECEIVES_IGNORED("receives of messages from one peer", "takes the messages of any peer",
            "receive with tags from one"),
    /**
     * A receive of messages without tags from one peer ends the process beside one from any peer, or when it is
     * canceled.
     */
    DIRECTED_RECEIVES_CRASH("receives of messages from one peer", "may end the process then",
            "receive with tags from one"),
    /**
     * To insert an address while a message waits for its receive ends the process, unless the endpoint has
     * FI_DIRECTED_RECV.
     */
    INSERTS_NEED_DIRECTED_RECEIVES,
    /**
     * A receive from one peer does not recognize a peer whose address was given to the provider in another spelling.
     */
    RESPELLED_PEERS_UNRECOGNIZED("receives from a peer of this process, or from one with a chosen name",
            "does not recognize it", "receive from any peer, or let the provider choose the name"),
    /** Some messages with completion data come without the flag that says so. The data are right. */
    MESSAGE_DATA_UNFLAGGED,
    /** A message that is matched after it has come is matched without the receive's mask. */
    MASKS_IGNORED("receives that ignore bits of the tag", "ignores none of messages that come before their receive",
            "receive the whole tag"),
    /** A look for a message posts a receive, which takes the message. */
    PEEK_RECEIVES("looks for a message", "receives it", "post a receive"),
    /** The sender of a long message that is discarded is not told that it has completed. */
    DISCARDED_SENDS_HANG("discards of messages", "does not tell the sender of a long message, who waits for ever",
            "receive the message"),
    /** A discard writes to the memory of the sender's endpoint. */
    DISCARDS_OVERWRITE("discards of messages", "overwrites memory of the sender's endpoint, or ends the process",
            "receive the message"),
    /** A discard never completes. */
    DISCARDS_INCOMPLETE("discards of messages", "never completes them, and may overwrite memory",
            "receive the message, or use libfabric 1.17 or newer"),
    /** A discard that finds a message never returns. */
    DISCARDS_HANG("discards of messages", "never returns from one that finds a message", "receive the message"),
    /** A message that is sent with INJECT never completes. */
    INJECTED_MESSAGES_HANG("messages with INJECT", "never completes them", "use inject, or leave the flag out"),
    /** Options can be read of enabled endpoints only. */
    OPTIONS_NEED_ENABLE("reads of options of an endpoint that is not enabled", "ends the process then",
            "enable the endpoint first"),
    /** The option of receives of many messages can be set on enabled endpoints only. */
    RECEIVE_OPTIONS_NEED_ENABLE("settings of MINIMUM_MULTI_RECEIVE of an endpoint that is not enabled",
            "ends the process then", "enable the endpoint first"),
    /** An endpoint has its address from the start and takes no other one. */
    FIXED_ADDRESSES("chosen addresses", "assigns a fixed address to each endpoint",
            "ask for one with FabricHints.source"),
    /**
     * A counter has 32 bits, with a sign. Work with a threshold in the upper half starts at once. While the counter is
     * in the upper half, work with a threshold in the lower half never starts.
     */
    COUNTERS_HAVE_32_BITS("thresholds above 2147483647", "counts with 32 bits", "use a lower threshold"),
    /** Deferred work starts inside the locks of what caused it: if it needs one of them, it never ends. */
    DEFERRED_WORK_STARTS_INSIDE_LOCKS("deferred work that would wait for its own cause",
            "starts work inside the locks of what caused it",
            "let what counts a send start no transmit of the same endpoint, what counts a receive no receive of it,"
                    + " and no change of a counter lead back to it"),
    /** Deferred atomic operations change as many remote segments as they have segments of operands. */
    DEFERRED_ATOMICS_LOSE_TARGETS("deferred atomic operations with more remote segments than operand segments",
            "loses the last ones", "queue several"),
    /** Of what peers do, counters count writes with data only. */
    COUNTS_DATA_WRITES_ONLY("counters of REMOTE_READ and REMOTE_WRITE", "counts only writes with data",
            "have peers send data, and count completions"),
    /** A counter of bytes counts operations. */
    BYTES_UNCOUNTED("counters of bytes", "counts operations instead", "add up the lengths of completions"),
    /** Each completion queue, with all that is used with it, is a domain of its own. */
    QUEUES_ARE_DOMAINS,
    /** Where each queue is a domain of its own: to ask a queue or a counter for its wait object ends the process. */
    QUEUE_DOMAINS_LACK_WAIT_OBJECTS("wait objects of queues and counters with ThreadingModel.COMPLETION",
            "ends the process when it is asked for one", "poll, or ask for another threading model"),
    /** Where each queue is a domain of its own: an endpoint is in one of them, with both of its directions. */
    QUEUE_DOMAINS_DIVIDE_ENDPOINTS(
            "different queues for the two directions of an endpoint with ThreadingModel.COMPLETION",
            "makes each queue a domain of its own",
            "bind one queue for both directions, or ask for another threading model"),
    /** Where each queue is a domain of its own: a counter is in the one of its first endpoint. */
    QUEUE_DOMAINS_DIVIDE_COUNTERS("different queues for the endpoints of a counter with ThreadingModel.COMPLETION",
            "makes each queue a domain of its own",
            "open a counter for each queue, or ask for another threading model"),
    /** Where each queue is a domain of its own: it gets an incomplete copy of a peer that the vector had before. */
    QUEUE_DOMAINS_COPY_PEERS(
            "peers that are inserted before an endpoint of the queue is enabled, with ThreadingModel.COMPLETION",
            "gives the queue an incomplete copy of them",
            "enable endpoints before inserting peers, or open an address vector for each queue"),
    /** Of a message in several segments the provider describes the first one, and reads on behind the description. */
    MESSAGES_HAVE_ONE_SEGMENT("messages of several segments", "describes only the first, and may end the process",
            "copy them into one"),
    /** What endpoints of one domain share serves the first of them only. */
    DOMAINS_HAVE_ONE_ENDPOINT("more than one endpoint of a domain, one after the other included",
            "fails or ends the process with another", "open a domain for each endpoint"),
    /** An address is inserted and removed by the endpoint that was bound to the vector last, be it open or not. */
    INSERTS_NEED_ENDPOINT("insertions into an address vector whose last endpoint is closed, or not enabled yet",
            "inserts by that endpoint, and ends the process", "enable an endpoint with the vector, and keep it open"),
    /** The provider miscounts regions, and says that its fabric is in use when nothing uses it. */
    FABRICS_SEEM_BUSY,
    /** fi_av_lookup gives an address that differs from the one that was inserted, or ends the process. */
    LOOKUP_INEXACT,
    /** fi_av_insertsvc never returns; fi_av_insertsym of one address is the same. */
    SERVICE_INSERTIONS_HANG,
    /** fi_av_insertsym writes the numbers of all addresses to the first place. */
    SYMMETRIC_HAS_ONE_PLACE,
    /** An address stays known to the provider until its vector is closed, also where its last peer was removed. */
    REMOVED_PEERS_STAY,
    /** A multicast group of an endpoint that only sends cannot be closed, and neither can its endpoint. */
    SENDERS_GROUPS_STAY("joins of multicast groups by endpoints that only send", "cannot end such a membership",
            "insert the group's address as a peer and send to it, or ask for Capability.RECV, too"),
    /** Where the data of an error are copied from is not set; nothing is copied where there is no room for them. */
    ERROR_DATA_UNSET,
    /** The close of an endpoint at which messages wait hangs, or reaches into the memory of their sender's endpoint. */
    UNTAKEN_MESSAGES_BREAK_CLOSE,
    /** An endpoint that no vector was bound to must get one before it is closed. */
    CLOSE_NEEDS_VECTOR,
    /** As {@link #CLOSE_NEEDS_VECTOR}; it must also be enabled, with a queue. */
    CLOSE_NEEDS_ENABLE,
    /** Injects need a counter of writes on their endpoint. */
    NEEDS_WRITE_COUNTER,
    /** All operations of an endpoint should end before it is closed. */
    DRAIN_BEFORE_CLOSE,
    /** The reads of an endpoint should end before it is closed. */
    DRAIN_READS_BEFORE_CLOSE,
    /** A connection that is being made when its endpoint is closed refers to the endpoint afterwards. */
    CONNECTIONS_OUTLIVE_CLOSE,
    /** fi_connect waits until the peer's machine answers. It needs nothing that calls on other objects change. */
    CONNECTS_WAIT,
    /** A read of an event queue may complete operations of its endpoints, beside a read of their completion queues. */
    EVENT_READS_COMPLETE,
    /** Ending a connection closes its endpoint. */
    SHUTDOWN_CLOSES,
    /** A connection that the peer has ended must be ended here too, or the peer learns of it late. */
    SHUTDOWN_NEEDS_ANSWER,
    /** The remaining length of an operation is cut to 32 bits. */
    LENGTHS_HAVE_32_BITS,
    /** An endpoint with a connection is opened for one destination. */
    ONE_DESTINATION("connections to another destination than that of the endpoint's info",
            "opens an endpoint for one destination",
            "name it with FabricHints.destination or FabricInfo.withDestination(address)"),
    /** An endpoint that took over a passive one's address frees that in its close, unless it has connected before. */
    PASSIVE_ENDPOINTS_FREED_BY_OTHERS,
    /** A passive endpoint that has listened must live as long as its fabric. */
    PASSIVE_ENDPOINTS_STAY,
    /** A peer's write with completion data takes a receive away. */
    DATA_TAKES_RECEIVES,
    /** An operation completes when its copy inside a device was begun, not when it has ended. */
    DEVICE_COPIES_END_LATE,
    /** Nothing touches the memory of a region after its fi_close. */
    CLOSED_REGIONS_ARE_UNTOUCHED,
    /** The provider looks at its own structure of a region after the region's fi_close. */
    CLOSED_REGIONS_ARE_READ,
    /** With automatic data progress the provider's thread ends the process when a peer goes away. */
    AUTOMATIC_PROGRESS_CRASHES("automatic data progress", "ends the process then when a peer goes away",
            "ask for ProgressModel.MANUAL, and have a target that does not poll served by Domain.startProgress()");

    /** The longest message between members of a collective operation that arrives, where long ones do not. */
    public static final long MAX_COLLECTIVE_MESSAGE = 16 * 1024;

    /**
     * The tests have shown at both ends that the same posts and polls are fast. The versions between are taken to be
     * alike.
     */
    private static final VersionRange FAST = VersionRange.from(1, 17).to(2, 6).guess();
    /** Versions in which some providers lock or wait longer. The tests have run on 1.17 only. */
    private static final VersionRange VERSION_1 = VersionRange.from(1, 15).to(1, 22).guess();
    /** Newer versions are untested. */
    private static final VersionRange ORDERED = VersionRange.from(1, 15).to(2, 6).guess();
    /** Newer versions are untested. */
    private static final VersionRange COVERING = VersionRange.from(1, 17).to(2, 1).guess();

    private final Refusal refusal;

    /** Nothing is refused: ofi4j does something else, or does without. */
    Fact() { this.refusal = null; }

    /** Something is refused; the words are those of {@link Refusal}. */
    Fact(String what, String why, String instead) {
        this.refusal = new Refusal(what, why, instead);
    }

    /** {@return what is refused where it is known, or null} */
    Refusal refusal() { return refusal; }

    /**
     * The facts that the tests have shown of providers that do what the man pages say: with them ofi4j may be faster.
     * They hold for the versions from the oldest tested to the newest. Of other providers and versions nothing is
     * known.
     */
    static Set<Fact> ofTestedProvider(Provider provider) {
        Set<Fact> facts = EnumSet.noneOf(Fact.class);
        // up to many megabytes in one poll, with manual progress
        boolean copiesInPolls = provider.hasCore("tcp", "net", "sockets", "udp");
        boolean isShm = provider.is("shm");
        boolean isVersion1 = VERSION_1.contains(provider.libfabric());
        if (copiesInPolls && ORDERED.contains(provider.libfabric())) { facts.add(FLUSHES_IN_ORDER); }
        boolean isHooked = !NativeLibrary.hooks().isEmpty(); // a hook may write a log in each call
        if (isHooked || !FAST.contains(provider.libfabric())
                || !copiesInPolls && !isShm && !provider.hasCore("verbs")) {
            return facts;
        }
        boolean takesSpinLocks = isShm && isVersion1; // shared between processes
        // fi_cntr_wait waits too long, or does not wait
        boolean waitsTooLong = isShm || provider.hasLayer("ofi_rxd") || provider.is("sockets") && isVersion1;
        boolean connectsInPosts = provider.is("sockets") // for 15 seconds where the peer's machine does not answer
                || isVersion1 && provider.hasCore("verbs") && provider.hasLayer("ofi_rxm"); // for 2, by the source
        if (!takesSpinLocks && !connectsInPosts) { facts.add(CRITICAL_POSTS); }
        if (!takesSpinLocks && !copiesInPolls) { facts.add(CRITICAL_POLLS); }
        if (!provider.hasLayer("ofi_rxm") && !provider.hasCore("verbs") && COVERING.contains(provider.libfabric())) {
            facts.add(FLUSHES_COVER_MESSAGES);
        }
        if (!waitsTooLong) { facts.add(BLOCKING_COUNTER_WAIT); }
        return facts;
    }
}
