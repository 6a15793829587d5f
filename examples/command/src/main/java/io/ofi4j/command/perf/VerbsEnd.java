package io.ofi4j.command.perf;

import static io.ofi4j.verbs.WorkFlags.INLINE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.verbs.QueuePair;
import io.ofi4j.verbs.QueuePairAddress;
import io.ofi4j.verbs.QueuePairAttributes;
import io.ofi4j.verbs.RemoteMemory;
import io.ofi4j.verbs.VerbsAccess;
import io.ofi4j.verbs.VerbsCompletionQueue;
import io.ofi4j.verbs.VerbsMemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/** An end that is a queue pair of an RDMA device. */
final class VerbsEnd extends End {
    private static final int FEWEST = 64;
    private static final int READS = 16;

    private final VerbsCompletionQueue queue;
    private final VerbsMemoryRegion region;
    private final QueuePair queuePair;
    private final VerbsPoster poster;

    VerbsEnd(VerbsDevice device, Plan plan, boolean isTarget) {
        super(plan, isTarget);
        int most = device.context().attributes().maximumWorkRequests();
        int depth = Math.clamp(plan.inFlight(isTarget), Math.min(FEWEST, most), most);
        try {
            queue = keep(device.context().openCompletionQueue(2 * depth));
            region = keep(allocate(device));
            queuePair = keep(device.domain().openQueuePair(QueuePairAttributes.of(queue).sizes(depth, depth)
                    .reads(READS).address(device.port(), device.gidIndex())));
            poster = new VerbsPoster(queuePair, region);
            receive(poster);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private VerbsMemoryRegion allocate(VerbsDevice device) {
        try {
            return device.domain().allocate(length(), rights());
        } catch (OutOfMemoryError e) {
            throw new CommandFailure(
                    "There is no memory for a region of " + length() + " bytes: ask for smaller sizes (-S).", e);
        }
    }

    private VerbsAccess[] rights() {
        return switch (plan.operation()) {
            case READ -> new VerbsAccess[]{VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_READ};
            case WRITE -> new VerbsAccess[]{VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE};
            case ATOMIC -> new VerbsAccess[]{VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_ATOMIC};
            default -> new VerbsAccess[]{VerbsAccess.LOCAL_WRITE};
        };
    }

    @Override
    byte[] address() { return queuePair.address().encode(); }

    @Override
    byte[] introduction() { return address(); }

    @Override
    byte[] remote() { return region.remote().encode(); }

    @Override
    void admit(byte[] introduction, byte[] remote) { queuePair.connect(QueuePairAddress.decode(introduction)); }

    @Override
    void reach(byte[] address, byte[] remote, Runnable meanwhile, Duration deadline) {
        poster.towards(RemoteMemory.decode(remote));
        queuePair.connect(QueuePairAddress.decode(address));
    }

    @Override
    Poster poster() { return poster; }

    @Override
    MemorySegment memory() { return region.segment(); }

    @Override
    boolean take(Completions completions) { return queue.poll(completions, BATCH) > 0; }

    /** Posts operations of a queue pair; short ones are inline, as the device would have them. */
    private static final class VerbsPoster implements Poster {
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
            return queuePair.tryFetchAdd(region, result, target, targetOffset,
                    memory.get(ValueLayout.JAVA_LONG, offset), SIGNALED, token);
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
}
