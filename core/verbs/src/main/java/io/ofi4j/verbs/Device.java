package io.ofi4j.verbs;

/**
 * An RDMA device of this machine. A value; {@link Verbs#open} opens the device.
 *
 * @param name the kernel's name, such as {@code mlx5_0}
 * @param guid the node's GUID, in host byte order
 * @param nodeType what kind of node it is
 * @param transport how it transports
 */
public record Device(String name, long guid, NodeType nodeType, Transport transport) {
    /** The kind of a node; {@code enum ibv_node_type}. */
    public enum NodeType {
        /** Something newer. */
        UNKNOWN,
        /** A channel adapter: InfiniBand or RoCE. */
        CHANNEL_ADAPTER,
        /** An InfiniBand switch. */
        SWITCH,
        /** An InfiniBand router. */
        ROUTER,
        /** An adapter of iWARP. */
        RNIC,
        /** Cisco's usNIC. */
        USNIC,
        /** Cisco's usNIC over UDP. */
        USNIC_UDP,
        /** A device that does not say, such as EFA. */
        UNSPECIFIED;

        static NodeType of(int value) { return value > 0 && value < values().length ? values()[value] : UNKNOWN; }
    }

    /** How a device transports; {@code enum ibv_transport_type}. */
    public enum Transport {
        /** InfiniBand's, RoCE included. */
        INFINIBAND,
        /** iWARP's. */
        IWARP,
        /** Cisco's usNIC. */
        USNIC,
        /** Cisco's usNIC over UDP. */
        USNIC_UDP,
        /** A device that does not say, or something newer. */
        UNSPECIFIED;

        static Transport of(int value) { return value >= 0 && value < values().length ? values()[value] : UNSPECIFIED; }
    }
}
