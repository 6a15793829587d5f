package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

/** {@code enum ibv_wr_opcode}, ibv_post_send(3). */
public final class Opcodes {
    public static final int SEND = IBV_WR_SEND();
    public static final int SEND_WITH_IMMEDIATE = IBV_WR_SEND_WITH_IMM();
    public static final int SEND_WITH_INVALIDATE = IBV_WR_SEND_WITH_INV();
    public static final int WRITE = IBV_WR_RDMA_WRITE();
    public static final int WRITE_WITH_IMMEDIATE = IBV_WR_RDMA_WRITE_WITH_IMM();
    public static final int READ = IBV_WR_RDMA_READ();
    public static final int FETCH_ADD = IBV_WR_ATOMIC_FETCH_AND_ADD();
    public static final int COMPARE_SWAP = IBV_WR_ATOMIC_CMP_AND_SWP();
    public static final int BIND = IBV_WR_BIND_MW();
    public static final int INVALIDATE = IBV_WR_LOCAL_INV();

    private Opcodes() {}
}
