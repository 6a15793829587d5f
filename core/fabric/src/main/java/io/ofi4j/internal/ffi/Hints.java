package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.ToLongFunction;

/** Makes a {@code struct fi_info} to ask with. Its strings are freed by fi_freeinfo with free(3). */
public final class Hints {
    /** {@return hints for the provider below a layered one: connected endpoints, with all modes accepted} */
    public static InfoHandle forCoreProvider(String provider, String device) {
        FabricHints any = FabricHints.any().threading(ThreadingModel.UNSPECIFIED).endpointType(EndpointType.MSG);
        InfoHandle info = of(any.provider(provider), -1, fabric_h.FI_MR_LOCAL() | fabric_h.FI_MR_VIRT_ADDR()
                | fabric_h.FI_MR_ALLOCATED() | fabric_h.FI_MR_PROV_KEY());
        fi_domain_attr.name(info.domain(), LibC.strdup(device));
        return info;
    }

    /** {@return hints for providers that demand no more than these modes} */
    public static InfoHandle of(FabricHints hints, long mode, int memoryRegionMode) {
        InfoHandle info = InfoHandle.copyOf(MemorySegment.NULL);
        fi_info.caps(info.pointer(), bits(hints.capabilities(), Capability::bit));
        fi_info.mode(info.pointer(), mode);
        fi_tx_attr.op_flags(info.transmit(), bits(hints.operationFlags(), OperationFlag::bit));
        fi_ep_attr.type(info.endpoint(), hints.endpointType().value());
        fi_domain_attr.threading(info.domain(), hints.threading().value());
        fi_domain_attr.control_progress(info.domain(), hints.controlProgress().value());
        fi_domain_attr.data_progress(info.domain(), hints.dataProgress().value());
        fi_domain_attr.mr_mode(info.domain(), memoryRegionMode);
        fi_domain_attr.name(info.domain(), LibC.strdup(hints.domain().orElse(null)));
        fi_fabric_attr.name(info.fabric(), LibC.strdup(hints.fabric().orElse(null)));
        fi_fabric_attr.prov_name(info.fabric(), LibC.strdup(hints.provider().orElse(null)));
        fi_rx_attr.op_flags(info.receive(), bits(hints.receiveOperationFlags(), OperationFlag::bit));
        AddressFormat format = addressFormat(hints); // one without a number says nothing
        fi_info.addr_format(info.pointer(), format == AddressFormat.OTHER ? 0 : format.value());
        applyAttributes(info, hints.attributes());
        applyLimits(info, hints.attributes());
        return info.withBytes(hints.sourceAddress().map(EndpointAddress::toBytes).orElse(null),
                hints.destinationAddress().map(EndpointAddress::toBytes).orElse(null),
                hints.attributes().authorizationKey());
    }

    /** {@return the format that hints ask for: their own, or else that of an address} */
    public static AddressFormat addressFormat(FabricHints hints) {
        return hints.addressFormat() != AddressFormat.UNSPECIFIED
                ? hints.addressFormat()
                : hints.sourceAddress().or(hints::destinationAddress).map(EndpointAddress::format)
                        .orElse(AddressFormat.UNSPECIFIED);
    }

    private static void applyAttributes(InfoHandle info, AttributeHints attributes) {
        long messageOrder = bits(attributes.messageOrder(), MessageOrder::bit);
        long completionOrder = bits(attributes.completionOrder(), CompletionOrder::bits);
        fi_domain_attr.av_type(info.domain(), attributes.addressVectorType().value());
        fi_domain_attr.resource_mgmt(info.domain(), attributes.resourceManagement().value());
        fi_domain_attr.tclass(info.domain(), attributes.trafficClass().value());
        fi_tx_attr.tclass(info.transmit(), attributes.trafficClass().value());
        fi_tx_attr.caps(info.transmit(), bits(attributes.transmitCapabilities(), Capability::bit));
        fi_rx_attr.caps(info.receive(), bits(attributes.receiveCapabilities(), Capability::bit));
        fi_tx_attr.msg_order(info.transmit(), messageOrder);
        fi_rx_attr.msg_order(info.receive(), messageOrder);
        fi_tx_attr.comp_order(info.transmit(), completionOrder);
        fi_rx_attr.comp_order(info.receive(), completionOrder);
        fi_tx_attr.size(info.transmit(), attributes.limit(Limit.TRANSMIT_SIZE));
        fi_rx_attr.size(info.receive(), attributes.limit(Limit.RECEIVE_SIZE));
        fi_tx_attr.inject_size(info.transmit(), attributes.limit(Limit.INJECT_SIZE));
        fi_domain_attr.cq_data_size(info.domain(), attributes.limit(Limit.COMPLETION_DATA_SIZE));
        fi_ep_attr.mem_tag_format(info.endpoint(), attributes.tagFormat());
        fi_ep_attr.tx_ctx_cnt(info.endpoint(), attributes.limit(Limit.TRANSMIT_CONTEXTS));
        fi_ep_attr.rx_ctx_cnt(info.endpoint(), attributes.limit(Limit.RECEIVE_CONTEXTS));
    }

    private static void applyLimits(InfoHandle info, AttributeHints attributes) {
        MemorySegment transmit = info.transmit();
        fi_tx_attr.iov_limit(transmit, attributes.limit(Limit.TRANSMIT_IOV_LIMIT));
        fi_tx_attr.rma_iov_limit(transmit, attributes.limit(Limit.RMA_IOV_LIMIT));
        MemorySegment receive = info.receive();
        fi_rx_attr.iov_limit(receive, attributes.limit(Limit.RECEIVE_IOV_LIMIT));
        fi_rx_attr.total_buffered_recv(receive, attributes.limit(Limit.BUFFERED_RECEIVE_SIZE));
        MemorySegment endpoint = info.endpoint();
        fi_ep_attr.protocol(endpoint, attributes.protocol().value());
        fi_ep_attr.protocol_version(endpoint, attributes.protocolVersion());
        fi_ep_attr.max_msg_size(endpoint, attributes.limit(Limit.MAXIMUM_MESSAGE_SIZE));
        fi_ep_attr.max_order_raw_size(endpoint, attributes.limit(Limit.MAXIMUM_ORDER_READ_AFTER_WRITE));
        fi_ep_attr.max_order_war_size(endpoint, attributes.limit(Limit.MAXIMUM_ORDER_WRITE_AFTER_READ));
        fi_ep_attr.max_order_waw_size(endpoint, attributes.limit(Limit.MAXIMUM_ORDER_WRITE_AFTER_WRITE));
        MemorySegment domain = info.domain();
        fi_domain_attr.mr_key_size(domain, attributes.limit(Limit.KEY_SIZE));
        fi_domain_attr.cq_cnt(domain, attributes.limit(Limit.COMPLETION_QUEUES));
        fi_domain_attr.ep_cnt(domain, attributes.limit(Limit.ENDPOINTS));
        fi_domain_attr.cntr_cnt(domain, attributes.limit(Limit.COUNTERS));
        fi_domain_attr.mr_cnt(domain, attributes.limit(Limit.MEMORY_REGIONS));
        fi_domain_attr.mr_iov_limit(domain, attributes.limit(Limit.MEMORY_REGION_IOV_LIMIT));
        fi_domain_attr.max_err_data(domain, attributes.limit(Limit.ERROR_DATA_SIZE));
        fi_domain_attr.tx_ctx_cnt(domain, attributes.limit(Limit.DOMAIN_TRANSMIT_CONTEXTS));
        fi_domain_attr.rx_ctx_cnt(domain, attributes.limit(Limit.DOMAIN_RECEIVE_CONTEXTS));
        fi_domain_attr.max_ep_tx_ctx(domain, attributes.limit(Limit.TRANSMIT_CONTEXTS_PER_ENDPOINT));
        fi_domain_attr.max_ep_rx_ctx(domain, attributes.limit(Limit.RECEIVE_CONTEXTS_PER_ENDPOINT));
        fi_domain_attr.max_ep_stx_ctx(domain, attributes.limit(Limit.SHARED_TRANSMIT_CONTEXTS));
        fi_domain_attr.max_ep_srx_ctx(domain, attributes.limit(Limit.SHARED_RECEIVE_CONTEXTS));
        if (FabricCalls.isVersion2()) {
            fi_domain_attr.max_ep_auth_key(domain, attributes.limit(Limit.AUTHORIZATION_KEYS_PER_ENDPOINT));
            fi_domain_attr.max_group_id(domain, (int) attributes.limit(Limit.MAXIMUM_GROUP_ID));
        }
    }

    /** {@return the bits of some constants, which do not overlap} */
    public static <E> long bits(Set<E> constants, ToLongFunction<E> bit) {
        return constants.stream().mapToLong(bit).sum();
    }
}
