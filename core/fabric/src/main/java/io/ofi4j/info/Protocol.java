package io.ofi4j.info;

import java.util.stream.Stream;

/** A wire protocol; the FI_PROTO_* values of fi_endpoint(3). Providers may have others, with numbers of their own. */
public enum Protocol {
    /** Any protocol; for hints only. */
    UNSPECIFIED(0),
    /** Reliable connections of InfiniBand or RoCE. */
    RDMA_CM_IB_RC(1),
    /** Connections of iWARP. */
    IWARP(2),
    /** Datagrams of InfiniBand or RoCE. */
    IB_UD(3),
    /** Of Intel True Scale (PSM). */
    PSMX(4),
    /** Datagrams of UDP. */
    UDP(5),
    /** Messages over TCP, with headers of libfabric. */
    SOCK_TCP(6),
    /** Of Mellanox Messaging. */
    MXM(7),
    /** Unconnected endpoints over iWARP. */
    IWARP_RDM(8),
    /** Unconnected endpoints over InfiniBand. */
    IB_RDM(9),
    /** Of Cray Gemini and Aries. */
    GNI(10),
    /** Unconnected endpoints over connected ones. */
    RXM(11),
    /** Reliable endpoints over datagrams. */
    RXD(12),
    /** Of UCX, earlier. */
    MLX(13),
    /** Of NetworkDirect. */
    NETWORKDIRECT(14),
    /** Of Intel Omni-Path (PSM2). */
    PSMX2(15),
    /** Shared memory of one machine. */
    SHM(16),
    /** Several rails as one. */
    MRAIL(17),
    /** Streams over connections. */
    RSTREAM(18),
    /** Extended reliable connections of InfiniBand. */
    RDMA_CM_IB_XRC(19),
    /** Of Amazon's Elastic Fabric Adapter. */
    EFA(20),
    /** Of Intel Ethernet (PSM3). */
    PSMX3(21),
    /** As {@link #RXM}, over TCP. */
    RXM_TCP(22),
    /** Of Cornelis Omni-Path (OPX). */
    OPX(23),
    /** Of HPE Slingshot. */
    CXI(24),
    /** Unconnected endpoints over TCP. */
    XNET(25),
    /** Collective operations alone. */
    COLL(26),
    /** Of UCX. */
    UCX(27),
    /** Shared memory of one machine, the second such protocol. */
    SM2(28),
    /** As {@link #CXI}, with receivers that may refuse a message for a while. */
    CXI_RNR(29),
    /** Of Liqid PCIe links. */
    LPP(30),
    /** Several providers as one. */
    LNX(31),
    /** A protocol that this release does not know. */
    OTHER(-1);

    private final int value;

    Protocol(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the protocol with this number, or {@link #OTHER}} */
    public static Protocol of(int value) {
        return Stream.of(values()).filter(one -> one.value == value).findFirst().orElse(OTHER);
    }
}
