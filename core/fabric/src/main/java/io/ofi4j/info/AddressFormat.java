package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * A format of addresses; the FI_SOCKADDR* and FI_ADDR_* values of fi_getinfo(3).
 */
public enum AddressFormat {
    /** In hints, any format; of an address, one that nobody has named. */
    UNSPECIFIED(0),
    /** A {@code struct sockaddr} of any family. */
    SOCKADDR(1),
    /** IPv4. */
    SOCKADDR_IN(2),
    /** IPv6. */
    SOCKADDR_IN6(3),
    /** InfiniBand. */
    SOCKADDR_IB(4),
    /** Intel True Scale (PSM). */
    PSMX(5),
    /** Cray Gemini and Aries. */
    GNI(6),
    /** Blue Gene/Q. */
    BGQ(7),
    /** UCX, earlier. */
    MLX(8),
    /** A text, such as {@code fi_shm://name}. */
    STR(9),
    /** Intel Omni-Path (PSM2). */
    PSMX2(10),
    /** Datagrams of InfiniBand. */
    IB_UD(11),
    /** Amazon's Elastic Fabric Adapter. */
    EFA(12),
    /** Intel Ethernet (PSM3). */
    PSMX3(13),
    /** Cornelis Omni-Path (OPX). */
    OPX(14),
    /** HPE Slingshot. */
    CXI(15),
    /** UCX. */
    UCX(16),
    /** A format that this release does not know. */
    OTHER(-1);

    private final int value;

    AddressFormat(int value) { this.value = value; }

    /** {@return libfabric's number for it; -1 for {@link #OTHER}} */
    public int value() { return value; }

    /** {@return the format with this number, or {@link #OTHER}} */
    public static AddressFormat of(int value) {
        return Stream.of(values()).filter(format -> format.value == value).findFirst().orElse(OTHER);
    }
}
