package io.ofi4j.internal.ffi;

/**
 * Constants of libfabric that are needed before it is loaded, or at compile time: the generated ones load it when they
 * are touched. A test compares them with the C headers.
 */
public final class FabricConstants {
    public static final long FI_MSG = 1L << 1;
    public static final long FI_RMA = 1L << 2;
    public static final long FI_TAGGED = 1L << 3;
    public static final long FI_MULTICAST = 1L << 5;
    public static final long FI_READ = 1L << 8;
    public static final long FI_WRITE = 1L << 9;
    public static final long FI_RECV = 1L << 10;
    public static final long FI_SEND = 1L << 11;
    public static final long FI_REMOTE_READ = 1L << 12;
    public static final long FI_REMOTE_WRITE = 1L << 13;
    public static final long FI_REMOTE_CQ_DATA = 1L << 17;
    public static final long FI_MULTI_RECV = 1L << 16;
    public static final long FI_PEEK = 1L << 19;
    public static final long FI_CLAIM = 1L << 59;
    public static final long FI_DISCARD = 1L << 58;
    public static final long FI_COMPLETION = 1L << 24;
    public static final long FI_HMEM_DEVICE_ONLY = 1L << 46;
    public static final long FI_RMA_PMEM = 1L << 49;
    public static final long FI_PROV_ATTR_ONLY = 1L << 54;
    public static final long FI_NUMERICHOST = 1L << 55;
    /** Since libfabric 2.2. */
    public static final long FI_RESCAN = 1L << 35;
    public static final long FI_RMA_EVENT = 1L << 56;
    public static final long FI_SOURCE = 1L << 57;

    public static final long FI_CONTEXT = 1L << 59;
    public static final long FI_CONTEXT2 = 1L << 52;
    public static final long FI_RX_CQ_DATA = 1L << 56;
    public static final long FI_MSG_PREFIX = 1L << 58;

    public static final int FI_GETWAIT = 5;
    public static final int FI_BACKLOG = 7;
    public static final int FI_NOTIFY = 0;
    public static final int FI_CONNREQ = 1;
    public static final int FI_CONNECTED = 2;
    public static final int FI_SHUTDOWN = 3;
    public static final int FI_MR_COMPLETE = 4;
    public static final int FI_AV_COMPLETE = 5;
    public static final int FI_JOIN_COMPLETE = 6;

    public static final int FI_AV_TABLE = 2;
    public static final int FI_SOCKADDR = 1;
    public static final int FI_CQ_FORMAT_CONTEXT = 1;
    public static final int FI_CQ_FORMAT_MSG = 2;
    public static final int FI_CQ_FORMAT_DATA = 3;
    public static final int FI_CQ_FORMAT_TAGGED = 4;
    public static final int FI_GETWAITOBJ = 16;
    public static final int FI_SOCKADDR_IN = 2;
    public static final int FI_SOCKADDR_IN6 = 3;
    public static final int FI_ADDR_STR = 9;
    public static final long FI_ADDR_NOTAVAIL = -1;
    public static final long FI_ADDR_UNSPEC = -1;
}
