package io.ofi4j.verbs;

/**
 * An RDMA device of this machine, as a value; ibv_get_device_list(3). {@link Verbs#open} opens the device.
 *
 * @param name the kernel's name, such as {@code mlx5_0}
 * @param guid the node's GUID, in host byte order
 * @param nodeType the kind of node
 * @param transport the transport protocol
 */
public record Device(String name, long guid, NodeType nodeType, Transport transport) {
    /** The kind of a node; {@code enum ibv_node_type}. */
    public enum NodeType {
        /** A kind that this release does not know. */
        UNKNOWN,
        /** A channel adapter: InfiniBand or RoCE. */
        CHANNEL_ADAPTER,
        /** An InfiniBand switch. */
        SWITCH,
        /** An InfiniBand router. */
        ROUTER,
        /** An iWARP adapter. */
        RNIC,
        /** Cisco's usNIC. */
        USNIC,
        /** Cisco's usNIC over UDP. */
        USNIC_UDP,
        /** A device that does not say, such as EFA. */
        UNSPECIFIED;

        static NodeType of(int value) { return value > 0 && value < values().length ? values()[value] : UNKNOWN; }
    }

    /** The transport protocol of a device; {@code enum ibv_transport_type}. */
    public enum Transport {
        /** InfiniBand, including RoCE. */
        INFINIBAND,
        /** iWARP. */
        IWARP,
        /** Cisco's usNIC. */
        USNIC,
        /** Cisco's usNIC over UDP. */
        USNIC_UDP,
        /** A device that does not say, or a transport that this release does not know. */
        UNSPECIFIED;

        static Transport of(int value) { return value >= 0 && value < values().length ? values()[value] : UNSPECIFIED; }
    }
}
