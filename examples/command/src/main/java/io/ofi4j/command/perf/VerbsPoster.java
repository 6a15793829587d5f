package io.ofi4j.command.perf;

import static io.ofi4j.verbs.WorkFlags.INLINE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;

import io.ofi4j.verbs.QueuePair;
import io.ofi4j.verbs.RemoteMemory;
import io.ofi4j.verbs.VerbsMemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Posts operations of a queue pair; short ones are inline, as the device would have them. */
final class VerbsPoster implements Poster {
    private final QueuePair queuePair;
    private final VerbsMemoryRegion region;
    private final MemorySegment memory;
    private final int inline;
    private RemoteMemory target;

    VerbsPoster(QueuePair queuePair, VerbsMemoryRegion region) {
        this.queuePair = queuePair;
        this.region = region;
        this.memory = region.segment();
        this.inline = queuePair.attributes().inline();
    }

    /** From now on operations concern this memory. */
    void towards(RemoteMemory remote) { target = remote; }

    private int flags(long size) { return size <= inline ? SIGNALED | INLINE : SIGNALED; }

    @Override
    public boolean tryWrite(long offset, long size, long targetOffset, long token) {
        return queuePair.tryWrite(region, offset, (int) size, target, targetOffset, flags(size), token);
    }

    @Override
    public boolean tryRead(long offset, long size, long targetOffset, long token) {
        return queuePair.tryRead(region, offset, (int) size, target, targetOffset, SIGNALED, token);
    }

    @Override
    public boolean tryFetchAdd(long offset, long result, long targetOffset, long token) {
        return queuePair.tryFetchAdd(region, result, target, targetOffset, memory.get(ValueLayout.JAVA_LONG, offset),
                SIGNALED, token);
    }

    @Override
    public boolean trySend(long offset, long size, long tag, long token) {
        return queuePair.trySend(region, offset, (int) size, flags(size), token);
    }

    @Override
    public boolean tryReceive(long offset, long size, long tag, long token) {
        return queuePair.tryReceive(region, offset, (int) size, token);
    }

    @Override
    public boolean tryWriteData(long offset, long size, long data, long targetOffset, long token) {
        throw new AssertionError("not measured over verbs");
    }

    @Override
    public boolean tryInject(long offset, long size, long targetOffset) {
        throw new AssertionError("not measured over verbs");
    }

    @Override
    public long targetLength() { return target.length(); }
}
