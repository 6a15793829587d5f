package io.ofi4j.info;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The network interface card, or what stands for one, of an info; {@code struct fid_nic}, fi_nic(3). Texts and numbers
 * are as the provider has them: a text that it does not say is empty.
 *
 * @param device the device; empty if the provider says nothing of it
 * @param pciAddress where the device is; empty if it is on no PCI bus, or the provider does not say
 * @param link its link; empty if the provider says nothing of it
 */
public record NetworkDevice(Optional<Device> device, Optional<PciAddress> pciAddress, Optional<Link> link) {

    /**
     * A device; {@code struct fi_device_attr}.
     *
     * @param name such as the name of the network interface
     * @param id the vendor's number of this kind of device
     * @param version of the hardware
     * @param vendor who has made it, often as a number
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
     * @param address of the link, such as an Ethernet address
     * @param mtu the largest unit of transmission, in bytes; 0 if unknown
     * @param speed in bits per second; 0 if unknown
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
