package io.ofi4j.internal.quirks;

/**
 * What is known of a provider beyond the man pages. Where none is known, ofi4j makes plain calls and expects what the man pages
 * promise. Facts are copied into final fields when an object is opened; the data path never looks them up.
 */
public enum Fact {
    /** A call that posts neither blocks, nor calls back, nor waits for another process: it may be {@code critical}. */
    CRITICAL_POSTS,
    /** A call that polls takes microseconds at most, and neither blocks nor calls back: it may be {@code critical}. */
    CRITICAL_POLLS,
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
    /** fi_eq_sread does not return when its time is over. */
    EVENT_WAIT_IGNORES_TIME,
    /** A read of no bytes never completes. */
    EMPTY_READS_HANG,
    /** A write of no bytes with DELIVERY_COMPLETE never completes. */
    EMPTY_DELIVERIES_HANG,
    /** A read into several local segments fills the first one only, and completes. */
    READS_FILL_ONE_SEGMENT,
    /** The source address of a completion is right for messages only. */
    SOURCES_OF_MESSAGES_ONLY,
    /** Options can be read and set on enabled endpoints only. */
    OPTIONS_NEED_ENABLE,
    /** An endpoint has its address from the start and takes no other one. */
    FIXED_ADDRESSES,
    /** Of what peers do, counters count writes with data only. */
    COUNTS_DATA_WRITES_ONLY,
    /** Each completion queue, with all that is used with it, is a domain of its own. */
    QUEUES_ARE_DOMAINS,
    /** fi_av_lookup gives an address that differs from the one that was inserted. */
    LOOKUP_INEXACT,
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
    /** Nothing touches the memory of a region after its fi_close. */
    CLOSED_REGIONS_ARE_UNTOUCHED,
    /** The provider looks at its own structure of a region after the region's fi_close. */
    CLOSED_REGIONS_ARE_READ
}
