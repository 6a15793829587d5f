package io.ofi4j.info;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The network interface card of an info, or the interface that stands for one; {@code struct fid_nic}, fi_nic(3). Texts
 * and numbers are those of the provider. A text is empty if the provider does not report it.
 *
 * @param device the device; empty if the provider does not report one
 * @param pciAddress where the device is; empty if it is on no PCI bus, or the provider does not report it
 * @param link its link; empty if the provider does not report one
 */
public record NetworkDevice(Optional<Device> device, Optional<PciAddress> pciAddress, Optional<Link> link) {

    /**
     * A device; {@code struct fi_device_attr}.
     *
     * @param name its name, such as that of the network interface
     * @param id the vendor's number for this kind of device
     * @param version the version of the hardware
     * @param vendor its vendor, often as a number
     * @param driver the operating system's driver
     * @param firmware the version of its firmware
     */
    public record Device(String name, String id, String version, String vendor, String driver, String firmware) {}

    /**
     * The place of a device on a PCI bus; {@code struct fi_pci_attr}. Its text is as {@code lspci} has it.
     *
     * @param domain 0 to 65,535
     * @param bus 0 to 255
     * @param device 0 to 31
     * @param function 0 to 7
     */
    public record PciAddress(int domain, int bus, int device, int function) {
        @Override
        public String toString() { return "%04x:%02x:%02x.%x".formatted(domain, bus, device, function); }
    }

    /**
     * The link of a device; {@code struct fi_link_attr}.
     *
     * @param address its address, such as an Ethernet address
     * @param mtu the maximum transmission unit, in bytes; 0 if unknown
     * @param speed the speed in bits per second; 0 if unknown
     * @param state whether it is up
     * @param networkType the kind of network, such as {@code Ethernet}
     */
    public record Link(String address, long mtu, long speed, LinkState state, String networkType) {}

    /** The state of a link; {@code enum fi_link_state}. */
    public enum LinkState {
        /** Not known. */
        UNKNOWN(0),
        /** It carries nothing. */
        DOWN(1),
        /** It works. */
        UP(2);

        private final int value;

        LinkState(int value) { this.value = value; }

        /** {@return libfabric's number for it} */
        public int value() { return value; }

        /** {@return the state with this number, or {@link #UNKNOWN}} */
        public static LinkState of(int value) {
            return Stream.of(values()).filter(state -> state.value == value).findFirst().orElse(UNKNOWN);
        }
    }
}
