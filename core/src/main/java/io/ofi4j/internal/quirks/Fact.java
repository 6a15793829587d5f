package io.ofi4j.internal.quirks;

import io.ofi4j.internal.ffi.NativeLibrary;
import java.util.EnumSet;
import java.util.Set;

/**
 * What is known of a provider beyond the man pages. Where none is known, ofi4j makes plain calls and expects what the man pages
 * promise. Facts are copied into final fields when an object is opened; the data path never looks them up.
 */
public enum Fact {
    /** A call that posts neither blocks, nor calls back, nor waits for another process: it may be {@code critical}. */
    CRITICAL_POSTS,
    /** A call that polls takes microseconds at most, and neither blocks nor calls back: it may be {@code critical}. */
    CRITICAL_POLLS,
    /** A write is not seen before the messages and atomic operations that were posted in front of it have changed memory. */
    WRITES_FOLLOW_MESSAGES,
    /** fi_cntr_wait keeps its time and its promise, with the wait objects FD and UNSPECIFIED. */
    BLOCKING_COUNTER_WAIT,
    /** fi_cntr_wait is in a table that this provider shares with no other one. */
    OWN_COUNTER_TABLE,
    /** Opening a counter puts a fi_cntr_wait that knows this provider's endpoints only into a table that providers share. */
    SPOILS_COUNTER_WAIT,
    /** After the close of an endpoint the wait objects of its queues and counters may point to freed memory. */
    STALE_WAIT_OBJECTS,
    /** The descriptor of a queue becomes quiet in fi_cq_sread only, not in fi_trywait. */
    DESCRIPTOR_RESET_BY_READ,
    /** A read of no bytes never completes. */
    EMPTY_READS_HANG,
    /** A write of no bytes with DELIVERY_COMPLETE never completes. */
    EMPTY_DELIVERIES_HANG,
    /** A read into several local segments fills the first one only, and completes. */
    READS_FILL_ONE_SEGMENT,
    /** A collective operation whose members send each other more than 16 KiB at once hangs, or ends the process. */
    LONG_COLLECTIVES_BREAK,
    /** A collective operation that finds no room for its receive is forgotten, and never completes. */
    COLLECTIVES_NEED_RECEIVES,
    /** A broadcast of elements that the members cannot share evenly writes beyond them. */
    UNEVEN_BROADCASTS_OVERRUN,
    /** Collective operations are messages with tags, which other receives must not match. */
    COLLECTIVES_USE_TAGS,
    /** Atomic operations fail, are wrong, or end the process. */
    ATOMICS_BREAK,
    /** Of atomic operations only reads and writes of integers of 64 bits do what they should. */
    ATOMICS_ONLY_COPY,
    /** An atomic operation with completion data is refused, or spoils the target. */
    ATOMICS_CARRY_NO_DATA,
    /** fi_atomicmsg with FI_INJECT gives no completion. */
    ATOMIC_INJECTS_ARE_SILENT,
    /** The source address of a completion is right for messages only. */
    SOURCES_OF_MESSAGES_ONLY,
    /** A poll, or the post of a receive, may never return once a message is longer than its receive. */
    LONG_MESSAGES_STOP_CALLS,
    /** A message that is longer than what is left of a receive of many messages overwrites what is behind it. */
    LONG_MESSAGES_OVERWRITE,
    /** A message that is claimed may be cut short. */
    CLAIMS_TRUNCATE,
    /** Where there is no room for another receive, posting it fails with ENOMEM. */
    FULL_RECEIVES_LACK_MEMORY,
    /** A receive of a shared context that is canceled gives no completion. */
    SHARED_RECEIVES_END_SILENTLY,
    /** A tagged message over a connection ends the receiving process if no receive awaits it. */
    CONNECTED_TAGS_CRASH,
    /** A context of a scalable endpoint that is closed is visited by polls of others, with manual progress. */
    CLOSED_CONTEXTS_ARE_VISITED,
    /** A look for a tagged message in a shared context ends the process. */
    SHARED_LOOKS_CRASH,
    /** A receive of messages without tags takes those of any peer, whichever is named. */
    DIRECTED_RECEIVES_IGNORED,
    /** A receive of messages without tags from one peer ends the process beside one from any peer, or when it is canceled. */
    DIRECTED_RECEIVES_CRASH,
    /** To insert an address while a message waits for its receive ends the process, unless the endpoint has FI_DIRECTED_RECV. */
    INSERTS_NEED_DIRECTED_RECEIVES,
    /** A receive from one peer does not recognize a peer whose address was given to the provider in another spelling. */
    RESPELLED_PEERS_UNRECOGNIZED,
    /** Some messages with completion data come without it. */
    MESSAGES_LOSE_DATA,
    /** A message that is matched after it has come is matched without the receive's mask. */
    MASKS_IGNORED,
    /** A look for a message posts a receive, which takes the message. */
    PEEK_RECEIVES,
    /** The sender of a long message that is discarded is not told that it has completed. */
    DISCARDED_SENDS_HANG,
    /** A message that is sent with INJECT never completes. */
    INJECTED_MESSAGES_HANG,
    /** Options can be read and set on enabled endpoints only. */
    OPTIONS_NEED_ENABLE,
    /** An endpoint has its address from the start and takes no other one. */
    FIXED_ADDRESSES,
    /** A counter has 32 bits: a threshold in the upper half starts work at once, and one in the lower half, from there, never. */
    COUNTERS_HAVE_32_BITS,
    /** Deferred work starts inside the locks of what caused it: if it needs one of them, it never ends. */
    DEFERRED_WORK_STARTS_INSIDE_LOCKS,
    /** Deferred atomic operations change as many remote segments as they have segments of operands. */
    DEFERRED_ATOMICS_LOSE_TARGETS,
    /** Of what peers do, counters count writes with data only. */
    COUNTS_DATA_WRITES_ONLY,
    /** Each completion queue, with all that is used with it, is a domain of its own. */
    QUEUES_ARE_DOMAINS,
    /** The provider miscounts regions, and says that its fabric is in use when nothing uses it. */
    FABRICS_SEEM_BUSY,
    /** fi_av_lookup gives an address that differs from the one that was inserted. */
    LOOKUP_INEXACT,
    /** fi_av_insertsvc never returns; fi_av_insertsym of one address is the same. */
    SERVICE_INSERTIONS_HANG,
    /** fi_av_insertsym writes the numbers of all addresses to the first place. */
    SYMMETRIC_HAS_ONE_PLACE,
    /** An address stays known to the provider until its vector is closed, also where its last peer was removed. */
    REMOVED_PEERS_STAY,
    /** An endpoint that no vector was bound to must get one before it is closed. */
    CLOSE_NEEDS_VECTOR,
    /** Injects need a counter of writes on their endpoint. */
    NEEDS_WRITE_COUNTER,
    /** All operations of an endpoint should end before it is closed. */
    DRAIN_BEFORE_CLOSE,
    /** The reads of an endpoint should end before it is closed. */
    DRAIN_READS_BEFORE_CLOSE,
    /** A connection that is being made when its endpoint is closed refers to the endpoint afterwards. */
    CONNECTIONS_OUTLIVE_CLOSE,
    /** Ending a connection closes its endpoint. */
    SHUTDOWN_CLOSES,
    /** A connection that the peer has ended must be ended here too, or the peer learns of it late. */
    SHUTDOWN_NEEDS_ANSWER,
    /** An endpoint with a connection is opened for one destination. */
    ONE_DESTINATION,
    /** A passive endpoint that has listened must live as long as its fabric. */
    PASSIVE_ENDPOINTS_STAY,
    /** A peer's write with completion data takes a receive away. */
    DATA_TAKES_RECEIVES,
    /** An operation completes when its copy inside a device was begun, not when it has ended. */
    DEVICE_COPIES_END_LATE,
    /** Nothing touches the memory of a region after its fi_close. */
    CLOSED_REGIONS_ARE_UNTOUCHED,
    /** The provider looks at its own structure of a region after the region's fi_close. */
    CLOSED_REGIONS_ARE_READ;

    /**
     * What the tests have shown of providers that do what the man pages say, so that ofi4j may be faster there. Of
     * providers and versions that nobody has tried nothing is known.
     */
    static Set<Fact> shownOf(Provider provider) {
        Set<Fact> facts = EnumSet.noneOf(Fact.class);
        boolean copiesInPolls = provider.isOver("tcp", "net", "sockets", "udp"); // many megabytes, with manual progress
        boolean isShm = provider.is("shm");
        boolean isOne = Tested.ONE.contains(provider.libfabric());
        boolean isHooked = !NativeLibrary.hooks().isEmpty(); // a hook may write a log in each call
        if (isHooked || !Tested.ALL.contains(provider.libfabric())
                || !copiesInPolls && !isShm && !provider.isOver("verbs")) {
            return facts;
        }
        boolean takesSpinLocks = isShm && isOne; // shared between processes
        boolean waitsTooLong = isShm || provider.isUnder("ofi_rxd") || provider.is("sockets") && isOne; // or not at all
        boolean connectsInPosts = provider.is("sockets") // for 15 seconds where the peer's machine does not answer
                || isOne && provider.isOver("verbs") && provider.isUnder("ofi_rxm"); // for 2, by the source
        if (!takesSpinLocks && !connectsInPosts) { facts.add(CRITICAL_POSTS); }
        if (!takesSpinLocks && !copiesInPolls) { facts.add(CRITICAL_POLLS); }
        boolean handlesMessagesLater = provider.isUnder("ofi_rxm"); // one at a time, in polls
        if (!handlesMessagesLater && !provider.isOver("verbs") && Tested.DEBIAN.contains(provider.libfabric())) {
            facts.add(WRITES_FOLLOW_MESSAGES);
        }
        if (!waitsTooLong) { facts.add(BLOCKING_COUNTER_WAIT); }
        return facts;
    }
}
