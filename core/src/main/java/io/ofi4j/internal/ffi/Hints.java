package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.LibC;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import java.lang.foreign.MemorySegment;

/** A {@code struct fi_info} to ask with. Its strings are freed by fi_freeinfo with free(3). */
public final class Hints {
    private final InfoHandle info = InfoHandle.copyOf(MemorySegment.NULL);

    /** {@return hints for the provider below a layered one: connected endpoints, with all modes accepted} */
    public static Hints ofConnections() {
        return new Hints().endpointType(fabric_h.FI_EP_MSG()).mode(-1).memoryRegionMode(fabric_h.FI_MR_LOCAL()
                | fabric_h.FI_MR_VIRT_ADDR() | fabric_h.FI_MR_ALLOCATED() | fabric_h.FI_MR_PROV_KEY());
    }

    public InfoHandle info() { return info; }

    public Hints capabilities(long bits) {
        fi_info.caps(info.pointer(), bits);
        return this;
    }

    public Hints operationFlags(long bits) {
        fi_tx_attr.op_flags(info.transmit(), bits);
        return this;
    }

    public Hints mode(long bits) {
        fi_info.mode(info.pointer(), bits);
        return this;
    }

    public Hints addressFormat(int format) {
        fi_info.addr_format(info.pointer(), format);
        return this;
    }

    public Hints endpointType(int type) {
        fi_ep_attr.type(info.endpoint(), type);
        return this;
    }

    public Hints threading(int model) {
        fi_domain_attr.threading(info.domain(), model);
        return this;
    }

    public Hints controlProgress(int model) {
        fi_domain_attr.control_progress(info.domain(), model);
        return this;
    }

    public Hints dataProgress(int model) {
        fi_domain_attr.data_progress(info.domain(), model);
        return this;
    }

    public Hints memoryRegionMode(int bits) {
        fi_domain_attr.mr_mode(info.domain(), bits);
        return this;
    }

    public Hints addressVectorType(int type) {
        fi_domain_attr.av_type(info.domain(), type);
        return this;
    }

    public Hints resourceManagement(int management) {
        fi_domain_attr.resource_mgmt(info.domain(), management);
        return this;
    }

    public Hints trafficClass(int trafficClass) {
        fi_domain_attr.tclass(info.domain(), trafficClass);
        fi_tx_attr.tclass(info.transmit(), trafficClass);
        return this;
    }

    public Hints order(long messageOrder, long completionOrder) {
        fi_tx_attr.msg_order(info.transmit(), messageOrder);
        fi_rx_attr.msg_order(info.receive(), messageOrder);
        fi_tx_attr.comp_order(info.transmit(), completionOrder);
        fi_rx_attr.comp_order(info.receive(), completionOrder);
        return this;
    }

    public Hints sizes(long transmit, long receive) {
        fi_tx_attr.size(info.transmit(), transmit);
        fi_rx_attr.size(info.receive(), receive);
        return this;
    }

    public Hints injectSize(long bytes) {
        fi_tx_attr.inject_size(info.transmit(), bytes);
        return this;
    }

    public Hints domain(String name) {
        fi_domain_attr.name(info.domain(), LibC.strdup(name));
        return this;
    }

    public Hints fabric(String name) {
        fi_fabric_attr.name(info.fabric(), LibC.strdup(name));
        return this;
    }

    public Hints provider(String name) {
        fi_fabric_attr.prov_name(info.fabric(), LibC.strdup(name));
        return this;
    }
}
