package io.ofi4j.verbs;

import io.ofi4j.verbs.internal.AttributeCodec.PortNumbers;
import java.util.List;

/**
 * A port of a device; {@code struct ibv_port_attr}, ibv_query_port(3).
 *
 * @param number the number of the port, from 1
 * @param state the state
 * @param mtu the largest number of bytes of a packet, or 0 if the port does not say
 * @param lid the address in an InfiniBand subnet, 0 on Ethernet
 * @param linkLayer the link layer
 * @param maximumMessageSize the largest number of bytes of one operation, as an unsigned number
 * @param gids the addresses that are set
 */
public record PortAttributes(int number, State state, int mtu, int lid, LinkLayer linkLayer, int maximumMessageSize,
        List<Gid> gids) {
    private static final int MIN_MTU = 128;
    private static final int MAX_MTU_CODE = 5;

    /** Copies the list. */
    public PortAttributes {
        gids = List.copyOf(gids);
    }

    /** The state of a port; {@code enum ibv_port_state}. */
    public enum State {
        /** Unchanged, or a state that this release does not know. */
        UNKNOWN,
        /** No link. */
        DOWN,
        /** There is a link, which is not configured. */
        INIT,
        /** The link is configured, and not in use. */
        ARMED,
        /** The link is in use. */
        ACTIVE,
        /** The link is in use, but fails at the moment. */
        ACTIVE_DEFER;

        static State of(int value) { return value > 0 && value < values().length ? values()[value] : UNKNOWN; }
    }

    /** The link layer of a port. */
    public enum LinkLayer {
        /** The port does not say. */
        UNSPECIFIED,
        /** InfiniBand. */
        INFINIBAND,
        /** Ethernet: RoCE or iWARP. */
        ETHERNET;

        static LinkLayer of(int value) { return value > 0 && value < values().length ? values()[value] : UNSPECIFIED; }
    }

    static PortAttributes of(int number, PortNumbers from, List<Gid> gids) {
        int code = from.activeMtu();
        return new PortAttributes(number, State.of(from.state()), code < 1 || code > MAX_MTU_CODE ? 0 : MIN_MTU << code,
                from.lid(), LinkLayer.of(from.linkLayer()), from.message(), gids);
    }
}
