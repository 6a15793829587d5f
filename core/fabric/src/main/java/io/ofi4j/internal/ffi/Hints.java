package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
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
        applyAttributes(info, hints.attributes());
        return info;
    }

    private static void applyAttributes(InfoHandle info, AttributeHints attributes) {
        long messageOrder = bits(attributes.messageOrder(), MessageOrder::bit);
        long completionOrder = bits(attributes.completionOrder(), CompletionOrder::bits);
        fi_domain_attr.av_type(info.domain(), attributes.addressVectorType().value());
        fi_domain_attr.resource_mgmt(info.domain(), attributes.resourceManagement().value());
        fi_domain_attr.tclass(info.domain(), attributes.trafficClass().value());
        fi_tx_attr.tclass(info.transmit(), attributes.trafficClass().value());
        fi_tx_attr.msg_order(info.transmit(), messageOrder);
        fi_rx_attr.msg_order(info.receive(), messageOrder);
        fi_tx_attr.comp_order(info.transmit(), completionOrder);
        fi_rx_attr.comp_order(info.receive(), completionOrder);
        fi_tx_attr.size(info.transmit(), attributes.transmitSize());
        fi_rx_attr.size(info.receive(), attributes.receiveSize());
        fi_tx_attr.inject_size(info.transmit(), attributes.injectSize());
        fi_domain_attr.cq_data_size(info.domain(), attributes.completionDataSize());
        fi_ep_attr.mem_tag_format(info.endpoint(), attributes.tagFormat());
        fi_ep_attr.tx_ctx_cnt(info.endpoint(), attributes.transmitContexts());
        fi_ep_attr.rx_ctx_cnt(info.endpoint(), attributes.receiveContexts());
    }

    /** {@return the bits of some constants, which do not overlap} */
    public static <E> long bits(Set<E> constants, ToLongFunction<E> bit) {
        return constants.stream().mapToLong(bit).sum();
    }
}
