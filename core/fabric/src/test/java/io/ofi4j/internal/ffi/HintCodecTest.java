package io.ofi4j.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.bindings.fi_bus_attr;
import io.ofi4j.bindings.fi_device_attr;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_link_attr;
import io.ofi4j.bindings.fi_pci_attr;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.bindings.fid_nic;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.Protocol;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every hint is where fi_getinfo looks for it, and every value of a device comes from where libfabric puts it. */
class HintCodecTest {
    private static final byte[] KEY = {1, 0, 2};

    @BeforeAll
    static void theLibraryThatThePropertyNamesIsTheOnlyOne() { NativeLibrary.ensureLoaded(); }

    private static InfoHandle asked(AttributeHints attributes) {
        return Hints.of(FabricHints.any().attributes(attributes), 0, 0);
    }

    @Test
    void limitsOfEndpointsArrive() {
        InfoHandle info = asked(AttributeHints.none().atLeast(Limit.TRANSMIT_IOV_LIMIT, 1)
                .atLeast(Limit.RMA_IOV_LIMIT, 2).atLeast(Limit.RECEIVE_IOV_LIMIT, 3)
                .atLeast(Limit.BUFFERED_RECEIVE_SIZE, 4).atLeast(Limit.MAXIMUM_MESSAGE_SIZE, 5)
                .atLeast(Limit.MAXIMUM_ORDER_READ_AFTER_WRITE, 6).atLeast(Limit.MAXIMUM_ORDER_WRITE_AFTER_READ, 7)
                .atLeast(Limit.MAXIMUM_ORDER_WRITE_AFTER_WRITE, 8).protocol(Protocol.LNX).protocolVersion(9)
                .transmitCapabilities(Capability.MSG).receiveCapabilities(Capability.RMA));

        assertThat(new long[]{fi_tx_attr.iov_limit(info.transmit()), fi_tx_attr.rma_iov_limit(info.transmit()),
                fi_rx_attr.iov_limit(info.receive()), fi_rx_attr.total_buffered_recv(info.receive()),
                fi_ep_attr.max_msg_size(info.endpoint()), fi_ep_attr.max_order_raw_size(info.endpoint()),
                fi_ep_attr.max_order_war_size(info.endpoint()), fi_ep_attr.max_order_waw_size(info.endpoint()),
                fi_ep_attr.protocol_version(info.endpoint())}).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
        assertThat(fi_ep_attr.protocol(info.endpoint())).isEqualTo(Protocol.LNX.value());
        assertThat(fi_tx_attr.caps(info.transmit())).isEqualTo(Capability.MSG.bit());
        assertThat(fi_rx_attr.caps(info.receive())).isEqualTo(Capability.RMA.bit());
    }

    @Test
    void limitsOfDomainsArrive() {
        InfoHandle info = asked(AttributeHints.none().atLeast(Limit.KEY_SIZE, 1).atLeast(Limit.COMPLETION_QUEUES, 2)
                .atLeast(Limit.ENDPOINTS, 3).atLeast(Limit.COUNTERS, 4).atLeast(Limit.MEMORY_REGIONS, 5)
                .atLeast(Limit.MEMORY_REGION_IOV_LIMIT, 6).atLeast(Limit.ERROR_DATA_SIZE, 7)
                .atLeast(Limit.DOMAIN_TRANSMIT_CONTEXTS, 8).atLeast(Limit.DOMAIN_RECEIVE_CONTEXTS, 9)
                .atLeast(Limit.TRANSMIT_CONTEXTS_PER_ENDPOINT, 10).atLeast(Limit.RECEIVE_CONTEXTS_PER_ENDPOINT, 11)
                .atLeast(Limit.SHARED_TRANSMIT_CONTEXTS, 12).atLeast(Limit.SHARED_RECEIVE_CONTEXTS, 13)
                .trafficClass(TrafficClass.ofCodePoint(46)));

        assertThat(new long[]{fi_domain_attr.mr_key_size(info.domain()), fi_domain_attr.cq_cnt(info.domain()),
                fi_domain_attr.ep_cnt(info.domain()), fi_domain_attr.cntr_cnt(info.domain()),
                fi_domain_attr.mr_cnt(info.domain()), fi_domain_attr.mr_iov_limit(info.domain()),
                fi_domain_attr.max_err_data(info.domain()), fi_domain_attr.tx_ctx_cnt(info.domain()),
                fi_domain_attr.rx_ctx_cnt(info.domain()), fi_domain_attr.max_ep_tx_ctx(info.domain()),
                fi_domain_attr.max_ep_rx_ctx(info.domain()), fi_domain_attr.max_ep_stx_ctx(info.domain()),
                fi_domain_attr.max_ep_srx_ctx(info.domain())})
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
        assertThat(fi_domain_attr.tclass(info.domain())).isEqualTo(fi_tx_attr.tclass(info.transmit())).isEqualTo(0x12e);
    }

    @Test
    void whatOnlyTheSecondInterfaceHasArrivesThere() {
        InfoHandle info = asked(AttributeHints.none().atLeast(Limit.AUTHORIZATION_KEYS_PER_ENDPOINT, 2)
                .atLeast(Limit.MAXIMUM_GROUP_ID, 0xffff_ffffL));
        if (FabricCalls.isVersion2()) {
            assertThat(fi_domain_attr.max_ep_auth_key(info.domain())).isEqualTo(2);
            assertThat(Attributes.domain(info).maximumGroupId()).isEqualTo(0xffff_ffffL);
        }
    }

    @Test
    void bytesArriveWithTheirLengths() {
        EndpointAddress source = EndpointAddress.of(new byte[]{1, 2, 3}, AddressFormat.STR);
        EndpointAddress destination = EndpointAddress.of(new byte[]{4, 5});

        InfoHandle info = Hints.of(FabricHints.any().source(source).destination(destination)
                .receiveOperationFlags(OperationFlag.COMPLETION)
                .attributes(AttributeHints.none().authorizationKey(KEY)), 0, 0);

        assertThat(info.sourceAddress()).isEqualTo(source.toBytes());
        assertThat(info.destinationAddress()).isEqualTo(destination.toBytes());
        assertThat(info.addressFormat()).isEqualTo(AddressFormat.STR.value());
        assertThat(fi_rx_attr.op_flags(info.receive())).isEqualTo(OperationFlag.COMPLETION.bit());
        assertKey(fi_domain_attr.auth_key(info.domain()), fi_domain_attr.auth_key_size(info.domain()));
        assertKey(fi_ep_attr.auth_key(info.endpoint()), fi_ep_attr.auth_key_size(info.endpoint()));
    }

    private static void assertKey(MemorySegment pointer, long length) {
        assertThat(LibC.bytes(pointer, length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(KEY);
    }

    @Test
    void constantsHaveTheNumbersOfTheHeaders() {
        assertThat(Arrays.stream(Protocol.values()).map(Protocol::value)).doesNotHaveDuplicates();
        for (Protocol protocol : Protocol.values()) {
            if (protocol.value() > 0) {
                assertThat(Attributes.protocolName(protocol.value()))
                        .as("%s, which older versions may not know", protocol).isIn(protocol.name(), "Unknown");
            }
        }
        assertThat(Attributes.addressFormatName(AddressFormat.EFA.value())).isEqualTo("ADDR_EFA");
        assertThat(Attributes.addressFormatName(AddressFormat.SOCKADDR_IN6.value())).isEqualTo("SOCKADDR_IN6");
    }

    @Test
    void aDeviceIsReadFromItsStructs() {
        InfoHandle info = InfoHandle.copyOf(MemorySegment.NULL);
        try (Arena arena = Arena.ofConfined()) {
            fi_info.nic(info.pointer(), nic(arena));

            NetworkDevice device = Attributes.networkDevice(info).orElseThrow();

            assertThat(device.device()).contains(new NetworkDevice.Device("eth0", "0x1", "2", "0x15b3", "mlx5", "16"));
            assertThat(device.pciAddress()).contains(new NetworkDevice.PciAddress(0xfffe, 0xaf, 3, 1));
            assertThat(device.link()).contains(
                    new NetworkDevice.Link("", 1500, 100_000_000_000L, NetworkDevice.LinkState.UP, "Ethernet"));
            assertThat(info.deviceVendor()).isEqualTo("0x15b3");
        } finally {
            fi_info.nic(info.pointer(), MemorySegment.NULL); // not to be freed
        }
    }

    private static MemorySegment nic(Arena arena) {
        MemorySegment device = fi_device_attr.allocate(arena);
        fi_device_attr.name(device, arena.allocateFrom("eth0"));
        fi_device_attr.device_id(device, arena.allocateFrom("0x1"));
        fi_device_attr.device_version(device, arena.allocateFrom("2"));
        fi_device_attr.vendor_id(device, arena.allocateFrom("0x15b3"));
        fi_device_attr.driver(device, arena.allocateFrom("mlx5"));
        fi_device_attr.firmware(device, arena.allocateFrom("16"));
        MemorySegment bus = fi_bus_attr.allocate(arena);
        fi_bus_attr.bus_type(bus, 1);
        MemorySegment pci = fi_bus_attr.attr.pci(fi_bus_attr.attr(bus));
        fi_pci_attr.domain_id(pci, (short) 0xfffe);
        fi_pci_attr.bus_id(pci, (byte) 0xaf);
        fi_pci_attr.device_id(pci, (byte) 3);
        fi_pci_attr.function_id(pci, (byte) 1);
        MemorySegment link = fi_link_attr.allocate(arena);
        fi_link_attr.mtu(link, 1500);
        fi_link_attr.speed(link, 100_000_000_000L);
        fi_link_attr.state(link, 2);
        fi_link_attr.network_type(link, arena.allocateFrom("Ethernet"));
        MemorySegment nic = fid_nic.allocate(arena);
        fid_nic.device_attr(nic, device);
        fid_nic.bus_attr(nic, bus);
        fid_nic.link_attr(nic, link);
        return nic;
    }

    @Test
    void anInfoWithoutADeviceSaysNone() {
        assertThat(Attributes.networkDevice(InfoHandle.copyOf(MemorySegment.NULL))).isEmpty();
    }
}
