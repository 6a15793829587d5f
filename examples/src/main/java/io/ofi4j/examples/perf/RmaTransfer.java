package io.ofi4j.examples.perf;

import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;

/** One-sided transfers between the same slots of both regions. */
final class RmaTransfer implements Transfer {
    /** What every provider that carries data carries: 4 bytes. */
    private static final long DATA = 0xffff_ffffL;

    private final Operation operation;
    private final Rma rma;
    private final MemoryRegion local;
    private final Peer peer;
    private final RemoteRegion remote;
    private final long size;
    private final long first;
    private final long stride;

    RmaTransfer(Operation operation, End here, Target target, Layout layout) {
        this.operation = operation;
        this.rma = here.endpoint().rma();
        this.local = here.region();
        this.peer = target.peer();
        this.remote = target.region();
        this.size = layout.size();
        this.first = layout.offset(0);
        this.stride = layout.stride();
    }

    @Override
    public boolean tryPost(int slot, long token) {
        long offset = first + slot * stride;
        return switch (operation) {
            case WRITE -> rma.tryWrite(local, offset, size, peer, remote, offset, token);
            case WRITEDATA -> rma.tryWriteData(local, offset, size, token & DATA, peer, remote, offset, token);
            case READ -> rma.tryRead(local, offset, size, peer, remote, offset, token);
            case INJECT -> rma.tryInjectWrite(local, offset, size, peer, remote, offset);
            default -> throw new AssertionError(operation);
        };
    }
}
