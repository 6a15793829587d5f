package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.FENCED;
import static io.ofi4j.verbs.WorkFlags.INLINE;

import io.ofi4j.verbs.internal.Opcodes;
import java.lang.foreign.MemorySegment;

/** Checks operations of one queue pair that move data, and posts them. */
final class SendWork {
    private static final int ATOMIC = Long.BYTES;

    private final QueuePair queuePair;
    private final WorkQueue workQueue;
    private final int inline;
    private final int readFlags;
    /** Whether the device takes no reads on this queue pair. */
    private final boolean refusesReads;

    SendWork(QueuePair queuePair, WorkQueue workQueue, int inline) {
        this.queuePair = queuePair;
        this.workQueue = workQueue;
        this.inline = inline;
        boolean isIwarp = queuePair.domain.context.isIwarp();
        // Soft-iWARP refuses these only after it has put them into its queue, where they stay
        this.readFlags = WorkFlags.ALL & ~INLINE & ~(isIwarp ? FENCED : 0);
        this.refusesReads = isIwarp && queuePair.attributes().reads() == 0;
    }

    boolean message(int opcode, VerbsMemoryRegion region, long offset, int length, int word, int flags, long token) {
        workQueue.completionQueue.guard.enter();
        try {
            queuePair.requireReady(flags, WorkFlags.ALL);
            queuePair.requireMessages();
            source(region, offset, length, flags);
            return workQueue.send(opcode, flags, length == 0 ? 0 : 1, word, WorkKind.SEND, region, token);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    boolean write(int opcode, VerbsMemoryRegion region, long offset, int length, RemoteMemory target, long targetOffset,
            int word, int flags, long token) {
        workQueue.completionQueue.guard.enter();
        try {
            queuePair.requireReady(flags, WorkFlags.ALL);
            if (opcode != Opcodes.WRITE) { queuePair.requireMessages(); }
            long remoteAddress = target.require(targetOffset, length, VerbsAccess.REMOTE_WRITE.bit());
            source(region, offset, length, flags);
            workQueue.request.remote(remoteAddress, target.key());
            return workQueue.send(opcode, flags, length == 0 ? 0 : 1, word, WorkKind.WRITE, region, token);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    boolean read(VerbsMemoryRegion region, long offset, int length, RemoteMemory source, long sourceOffset, int flags,
            long token) {
        workQueue.completionQueue.guard.enter();
        try {
            queuePair.requireReady(flags, readFlags);
            if (refusesReads) { throw new IllegalArgumentException(queuePair + " was opened with 0 reads"); }
            long remoteAddress = source.require(sourceOffset, length, VerbsAccess.REMOTE_READ.bit());
            local(region, offset, length, VerbsAccess.LOCAL_WRITE.bit());
            workQueue.request.remote(remoteAddress, source.key());
            return workQueue.send(Opcodes.READ, flags, length == 0 ? 0 : 1, 0, WorkKind.READ, region, token);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    boolean atomic(int opcode, WorkKind kind, VerbsMemoryRegion result, long offset, RemoteMemory target,
            long targetOffset, long first, long swap, int flags, long token) {
        workQueue.completionQueue.guard.enter();
        try {
            queuePair.requireReady(flags, WorkFlags.ALL & ~INLINE);
            if (queuePair.domain.context.attributes().atomics() == DeviceAttributes.AtomicSupport.NONE) {
                throw new UnsupportedOperationException(
                        "atomic operations are not offered by the device " + queuePair.domain.context.name());
            }
            long remoteAddress = target.require(targetOffset, ATOMIC, VerbsAccess.REMOTE_ATOMIC.bit());
            if (remoteAddress % ATOMIC != 0) {
                throw new IllegalArgumentException(
                        "the target of an atomic operation must begin at a multiple of 8 bytes");
            }
            local(result, offset, ATOMIC, VerbsAccess.LOCAL_WRITE.bit());
            workQueue.request.atomic(remoteAddress, target.key(), first, swap);
            return workQueue.send(opcode, flags, 1, 0, kind, result, token);
        } finally {
            workQueue.completionQueue.guard.exit();
        }
    }

    private void source(VerbsMemoryRegion region, long offset, int length, int flags) {
        if ((flags & INLINE) == 0) {
            local(region, offset, length, 0);
            return;
        }
        if (length > inline) {
            throw new IllegalArgumentException("inline data has at most " + inline + " bytes, not " + length
                    + ": leave INLINE out, or open the queue pair with more");
        }
        region.require(queuePair.domain, offset, length, 0);
        MemorySegment staging = workQueue.request.staging();
        MemorySegment.copy(region.segment(), offset, staging, 0, length); // freed memory throws here, and is not read
        workQueue.request.local(staging.address(), length, region.nativeRegion.localKey());
    }

    private void local(VerbsMemoryRegion region, long offset, int length, int right) {
        region.require(queuePair.domain, offset, length, right);
        workQueue.request.local(region.base + offset, length, region.nativeRegion.localKey());
    }
}
