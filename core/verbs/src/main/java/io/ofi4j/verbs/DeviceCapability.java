package io.ofi4j.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** What a device can do; the flags of ibv_query_device_ex(3), {@code IBV_DEVICE_…}. */
public enum DeviceCapability {
    /** Queue pairs can be resized. */
    RESIZE_MAX_WR(0),
    /** Bad partition keys are counted. */
    BAD_PKEY_CNTR(1),
    /** Bad queue keys are counted. */
    BAD_QKEY_CNTR(2),
    /** Raw packets can be multicast. */
    RAW_MULTI(3),
    /** Paths migrate automatically. */
    AUTO_PATH_MIG(4),
    /** A queue pair can change its port. */
    CHANGE_PHY_PORT(5),
    /** The port of a datagram's address handle is enforced. */
    UD_AV_PORT_ENFORCE(6),
    /** The current state can be named when a queue pair is modified. */
    CURR_QP_STATE_MOD(7),
    /** A port can be shut down. */
    SHUTDOWN_PORT(8),
    /** The init type can be set. */
    INIT_TYPE(9),
    /** An event says when a port becomes active. */
    PORT_ACTIVE_EVENT(10),
    /** The system has a GUID. */
    SYS_IMAGE_GUID(11),
    /** The device answers that a receiver is not ready. */
    RC_RNR_NAK_GEN(12),
    /** Shared receive queues can be resized. */
    SRQ_RESIZE(13),
    /** A notification can be requested after a number of completions. */
    N_NOTIFY_CQ(14),
    /** Memory windows of type 1. */
    MEM_WINDOW(17),
    /** Checksums of datagrams over IP. */
    UD_IP_CSUM(18),
    /** The extended reliable connected transport. */
    XRC(20),
    /** Send with invalidate, local invalidate, and fast registration, which user space does not offer. */
    MEM_MGT_EXTENSIONS(21),
    /** Memory windows of type 2A, which belong to a queue pair. */
    MEM_WINDOW_TYPE_2A(23),
    /** Memory windows of type 2B, which belong to a queue pair and a protection domain. */
    MEM_WINDOW_TYPE_2B(24),
    /** Checksums of connected messages over IP. */
    RC_IP_CSUM(25),
    /** Checksums of raw packets. */
    RAW_IP_CSUM(26),
    /** The device steers flows. */
    MANAGED_FLOW_STEERING(29),
    /** A raw packet's frame check sequence is received. */
    RAW_SCATTER_FCS(34),
    /** Writes are padded to whole cache lines. */
    PCI_WRITE_END_PADDING(36);

    private final long bit;

    DeviceCapability(int shift) { this.bit = 1L << shift; }

    /** {@return the flag of verbs.h} */
    public long bit() { return bit; }

    static Set<DeviceCapability> setOf(long bits) {
        Set<DeviceCapability> set = EnumSet.allOf(DeviceCapability.class);
        set.removeIf(one -> (bits & one.bit) == 0);
        return Collections.unmodifiableSet(set);
    }
}
