package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.LibC;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.Protocol;
import io.ofi4j.info.ResourceManagement;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricAttributes;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ReceiveAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.info.Version;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_bus_attr;
import io.ofi4j.bindings.fi_device_attr;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_link_attr;
import io.ofi4j.bindings.fi_pci_attr;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.bindings.fid_nic;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Copies the attribute structs of an {@code fi_info} into values. */
public final class Attributes {
    /** A size_t as a long; SIZE_MAX, no limit, as Long.MAX_VALUE. */
    private static long size(long value) {
        return value < 0 ? Long.MAX_VALUE : value;
    }

    private static Set<Capability> capabilities(long bits) {
        return Capability.setOf(bits, Version.of(FabricCalls.fi_version()));
    }

    private static long contexts(long count) {
        return count == EndpointAttributes.SHARED_CONTEXT ? count : size(count);
    }

    /** An address format without its prefix. */
    public static String addressFormatName(int format) {
        return FabricCalls.fi_tostr(format, fabric_h.FI_TYPE_ADDR_FORMAT()).replaceFirst("^FI_", "");
    }

    /** A wire protocol without its prefix. */
    public static String protocolName(int protocol) {
        return FabricCalls.fi_tostr(protocol, fabric_h.FI_TYPE_PROTOCOL()).replaceFirst("^FI_PROTO_", "");
    }

    /** The number of the wire protocol, which {@link Protocol} may not know. */
    public static int protocol(InfoHandle info) {
        return fi_ep_attr.protocol(info.endpoint());
    }

    public static TransmitAttributes transmit(InfoHandle info) {
        MemorySegment at = info.transmit();
        return new TransmitAttributes(capabilities(fi_tx_attr.caps(at)), OperationFlag.setOf(fi_tx_attr.op_flags(at)),
                MessageOrder.setOf(fi_tx_attr.msg_order(at)), CompletionOrder.setOf(fi_tx_attr.comp_order(at)),
                size(fi_tx_attr.inject_size(at)), size(fi_tx_attr.size(at)), size(fi_tx_attr.iov_limit(at)),
                size(fi_tx_attr.rma_iov_limit(at)), TrafficClass.of(fi_tx_attr.tclass(at)));
    }

    public static ReceiveAttributes receive(InfoHandle info) {
        MemorySegment at = info.receive();
        return new ReceiveAttributes(capabilities(fi_rx_attr.caps(at)), OperationFlag.setOf(fi_rx_attr.op_flags(at)),
                MessageOrder.setOf(fi_rx_attr.msg_order(at)), CompletionOrder.setOf(fi_rx_attr.comp_order(at)),
                size(fi_rx_attr.size(at)), size(fi_rx_attr.iov_limit(at)), size(fi_rx_attr.total_buffered_recv(at)));
    }

    public static EndpointAttributes endpoint(InfoHandle info) {
        MemorySegment at = info.endpoint();
        return new EndpointAttributes(EndpointType.of(fi_ep_attr.type(at)), Protocol.of(fi_ep_attr.protocol(at)),
                fi_ep_attr.protocol_version(at), size(fi_ep_attr.max_msg_size(at)),
                size(fi_ep_attr.msg_prefix_size(at)), size(fi_ep_attr.max_order_raw_size(at)),
                size(fi_ep_attr.max_order_war_size(at)), size(fi_ep_attr.max_order_waw_size(at)),
                fi_ep_attr.mem_tag_format(at), contexts(fi_ep_attr.tx_ctx_cnt(at)),
                contexts(fi_ep_attr.rx_ctx_cnt(at)));
    }

    public static DomainAttributes domain(InfoHandle info) {
        MemorySegment at = info.domain();
        boolean isVersion2 = FabricCalls.isVersion2();
        return new DomainAttributes(LibC.string(fi_domain_attr.name(at)),
                ThreadingModel.of(fi_domain_attr.threading(at)), ProgressModel.of(fi_domain_attr.control_progress(at)),
                ProgressModel.of(fi_domain_attr.data_progress(at)),
                ResourceManagement.of(fi_domain_attr.resource_mgmt(at)),
                AddressVectorType.of(fi_domain_attr.av_type(at)), MemoryRegionMode.setOf(fi_domain_attr.mr_mode(at)),
                size(fi_domain_attr.mr_key_size(at)), size(fi_domain_attr.cq_data_size(at)),
                size(fi_domain_attr.cq_cnt(at)), size(fi_domain_attr.ep_cnt(at)), size(fi_domain_attr.cntr_cnt(at)),
                size(fi_domain_attr.mr_iov_limit(at)), size(fi_domain_attr.mr_cnt(at)),
                capabilities(fi_domain_attr.caps(at)), fi_domain_attr.mode(at), size(fi_domain_attr.tx_ctx_cnt(at)),
                size(fi_domain_attr.rx_ctx_cnt(at)), size(fi_domain_attr.max_ep_tx_ctx(at)),
                size(fi_domain_attr.max_ep_rx_ctx(at)), size(fi_domain_attr.max_ep_stx_ctx(at)),
                size(fi_domain_attr.max_ep_srx_ctx(at)), size(fi_domain_attr.auth_key_size(at)),
                size(fi_domain_attr.max_err_data(at)), TrafficClass.of(fi_domain_attr.tclass(at)),
                isVersion2 ? size(fi_domain_attr.max_ep_auth_key(at)) : 0,
                isVersion2 ? Integer.toUnsignedLong(fi_domain_attr.max_group_id(at)) : 0);
    }

    public static FabricAttributes fabric(InfoHandle info) {
        MemorySegment at = info.fabric();
        return new FabricAttributes(LibC.string(fi_fabric_attr.name(at)), LibC.string(fi_fabric_attr.prov_name(at)),
                Version.of(fi_fabric_attr.prov_version(at)), Version.of(fi_fabric_attr.api_version(at)));
    }

    /** Empty where the provider says nothing of a device. */
    public static Optional<NetworkDevice> networkDevice(InfoHandle info) {
        MemorySegment nic = info.nic();
        if (nic.address() == 0) { return Optional.empty(); }
        return Optional.of(new NetworkDevice(device(fid_nic.device_attr(nic)), pci(fid_nic.bus_attr(nic)),
                link(fid_nic.link_attr(nic))));
    }

    private static Optional<NetworkDevice.Device> device(MemorySegment pointer) {
        if (pointer.address() == 0) { return Optional.empty(); }
        MemorySegment at = LibC.bytes(pointer, fi_device_attr.sizeof());
        return Optional.of(new NetworkDevice.Device(text(fi_device_attr.name(at)), text(fi_device_attr.device_id(at)),
                text(fi_device_attr.device_version(at)), text(fi_device_attr.vendor_id(at)),
                text(fi_device_attr.driver(at)), text(fi_device_attr.firmware(at))));
    }

    private static Optional<NetworkDevice.PciAddress> pci(MemorySegment pointer) {
        if (pointer.address() == 0) { return Optional.empty(); }
        MemorySegment at = LibC.bytes(pointer, fi_bus_attr.sizeof());
        if (fi_bus_attr.bus_type(at) != fabric_h.FI_BUS_PCI()) { return Optional.empty(); }
        MemorySegment pci = fi_bus_attr.attr.pci(fi_bus_attr.attr(at));
        return Optional.of(new NetworkDevice.PciAddress(Short.toUnsignedInt(fi_pci_attr.domain_id(pci)),
                Byte.toUnsignedInt(fi_pci_attr.bus_id(pci)), Byte.toUnsignedInt(fi_pci_attr.device_id(pci)),
                Byte.toUnsignedInt(fi_pci_attr.function_id(pci))));
    }

    private static Optional<NetworkDevice.Link> link(MemorySegment pointer) {
        if (pointer.address() == 0) { return Optional.empty(); }
        MemorySegment at = LibC.bytes(pointer, fi_link_attr.sizeof());
        return Optional.of(new NetworkDevice.Link(text(fi_link_attr.address(at)), size(fi_link_attr.mtu(at)),
                size(fi_link_attr.speed(at)), NetworkDevice.LinkState.of(fi_link_attr.state(at)),
                text(fi_link_attr.network_type(at))));
    }

    private static String text(MemorySegment pointer) { return Objects.requireNonNullElse(LibC.string(pointer), ""); }
}
