package io.ofi4j.verbs.internal;

import io.ofi4j.bindings.verbs.ibv_wc;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** A batch of {@code struct ibv_wc} that one poll reads into. Not thread-safe. */
public final class WorkCompletions {
    private static final long SIZE = ibv_wc.sizeof();
    private static final long ID = ibv_wc.wr_id$offset();
    private static final long STATUS = ibv_wc.status$offset();
    private static final long OPCODE = ibv_wc.opcode$offset();
    private static final long VENDOR = ibv_wc.vendor_err$offset();
    private static final long LENGTH = ibv_wc.byte_len$offset();
    private static final long WORD = ibv_wc.imm_data$offset();
    private static final long FLAGS = ibv_wc.wc_flags$offset();

    private final MemorySegment memory;
    private final long address;

    public WorkCompletions(int entries) {
        this.memory = Arena.ofAuto().allocate(SIZE * entries, 64);
        this.address = memory.address();
    }

    /** The number of completions that were read, or an error below 0. */
    public int poll(ContextOps ops, long queue, int limit) {
        try {
            return ops.ibv_poll_cq(queue, limit, address);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    public long id(int index) { return NativeWords.get(address, index * SIZE + ID); }

    public int status(int index) { return NativeWords.getInt(address, index * SIZE + STATUS); }

    public int opcode(int index) { return NativeWords.getInt(address, index * SIZE + OPCODE); }

    public int vendorError(int index) { return NativeWords.getInt(address, index * SIZE + VENDOR); }

    public int length(int index) { return NativeWords.getInt(address, index * SIZE + LENGTH); }

    /** The immediate, in network order, or the key that was invalidated. */
    public int word(int index) {
        return NativeWords.getInt(address, index * SIZE + WORD);
    }

    public int flags(int index) { return NativeWords.getInt(address, index * SIZE + FLAGS); }
}
