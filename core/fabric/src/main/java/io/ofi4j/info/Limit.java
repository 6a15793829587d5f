package io.ofi4j.info;

import java.util.Locale;

/**
 * A limit of a domain or of its endpoints that {@link AttributeHints#atLeast} asks for; the fields of fi_getinfo(3)
 * that are numbers. What was granted is in {@link TransmitAttributes}, {@link ReceiveAttributes}, {@link
 * EndpointAttributes} and {@link DomainAttributes}.
 */
public enum Limit {
    /** Operations in flight of an endpoint; {@code fi_tx_attr.size}. */
    TRANSMIT_SIZE,
    /** Posted receives of an endpoint; {@code fi_rx_attr.size}. */
    RECEIVE_SIZE,
    /** Bytes that an endpoint injects; {@code fi_tx_attr.inject_size}. */
    INJECT_SIZE,
    /** Local segments of an operation; {@code fi_tx_attr.iov_limit}. */
    TRANSMIT_IOV_LIMIT,
    /** Remote segments of an operation; {@code fi_tx_attr.rma_iov_limit}. */
    RMA_IOV_LIMIT,
    /** Segments of a receive; {@code fi_rx_attr.iov_limit}. */
    RECEIVE_IOV_LIMIT,
    /**
     * Bytes for messages that come before their receive; {@code fi_rx_attr.total_buffered_recv}, which libfabric 2
     * ignores.
     */
    BUFFERED_RECEIVE_SIZE,
    /** Bytes of a transfer; {@code fi_ep_attr.max_msg_size}. */
    MAXIMUM_MESSAGE_SIZE,
    /** Bytes up to which a read is ordered after earlier writes; {@code fi_ep_attr.max_order_raw_size}. */
    MAXIMUM_ORDER_READ_AFTER_WRITE,
    /** Bytes up to which a write is ordered after earlier reads; {@code fi_ep_attr.max_order_war_size}. */
    MAXIMUM_ORDER_WRITE_AFTER_READ,
    /** Bytes up to which a write is ordered after earlier writes; {@code fi_ep_attr.max_order_waw_size}. */
    MAXIMUM_ORDER_WRITE_AFTER_WRITE,
    /** Transmit contexts of a scalable endpoint; {@code fi_ep_attr.tx_ctx_cnt}. */
    TRANSMIT_CONTEXTS,
    /** Receive contexts of a scalable endpoint; {@code fi_ep_attr.rx_ctx_cnt}. */
    RECEIVE_CONTEXTS,
    /**
     * Bytes of remote data in a completion; {@code fi_domain_attr.cq_data_size}. Some providers have several infos, of
     * which the first carries none.
     */
    COMPLETION_DATA_SIZE,
    /** Bytes of a key; {@code fi_domain_attr.mr_key_size}. */
    KEY_SIZE,
    /** Completion queues of a domain; {@code fi_domain_attr.cq_cnt}. */
    COMPLETION_QUEUES,
    /** Endpoints of a domain; {@code fi_domain_attr.ep_cnt}. */
    ENDPOINTS,
    /** Counters of a domain; {@code fi_domain_attr.cntr_cnt}. */
    COUNTERS,
    /** Memory regions of a domain; {@code fi_domain_attr.mr_cnt}. */
    MEMORY_REGIONS,
    /** Segments of a memory region; {@code fi_domain_attr.mr_iov_limit}. */
    MEMORY_REGION_IOV_LIMIT,
    /** Bytes of the provider's data about an error; {@code fi_domain_attr.max_err_data}. */
    ERROR_DATA_SIZE,
    /** Transmit contexts of a domain; {@code fi_domain_attr.tx_ctx_cnt}. */
    DOMAIN_TRANSMIT_CONTEXTS,
    /** Receive contexts of a domain; {@code fi_domain_attr.rx_ctx_cnt}. */
    DOMAIN_RECEIVE_CONTEXTS,
    /** Transmit contexts that the domain allows a scalable endpoint; {@code fi_domain_attr.max_ep_tx_ctx}. */
    TRANSMIT_CONTEXTS_PER_ENDPOINT,
    /** Receive contexts that the domain allows a scalable endpoint; {@code fi_domain_attr.max_ep_rx_ctx}. */
    RECEIVE_CONTEXTS_PER_ENDPOINT,
    /** Endpoints that share a transmit context; {@code fi_domain_attr.max_ep_stx_ctx}. */
    SHARED_TRANSMIT_CONTEXTS,
    /** Endpoints that share a receive context; {@code fi_domain_attr.max_ep_srx_ctx}. */
    SHARED_RECEIVE_CONTEXTS,
    /**
     * Authorization keys of an endpoint; {@code fi_domain_attr.max_ep_auth_key}, which libfabric 1 does not have and
     * ofi4j does not pass to it.
     */
    AUTHORIZATION_KEYS_PER_ENDPOINT,
    /**
     * The largest number of a group, at most 4,294,967,295; {@code fi_domain_attr.max_group_id}, which libfabric 1 does
     * not have and ofi4j does not pass to it.
     */
    MAXIMUM_GROUP_ID;

    /** Its name in words. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ').replace("rma", "RMA");
    }
}
