package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Hints;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.util.function.BooleanSupplier;

/**
 * The path of an operation from the call to the provider, which every family inherits: the checks before native code is
 * reached, the slot of the queue, a refused post, and the wait for room. A post reads final fields only.
 *
 * <p>Each {@code try} form enters the guard, checks, acquires a slot, makes the call, and exits the guard. Checks are
 * called inside the guard, since other threads may close regions and endpoints and remove peers.
 */
abstract sealed class PostPath permits OneSided, TwoSided, Collectives {
    private static final long DELIVERY_COMPLETE = OperationFlag.DELIVERY_COMPLETE.bit();
    private static final long COMPLETION = OperationFlag.COMPLETION.bit();
    private static final long MAX_OF_32_BITS = 0xffff_ffffL;
    private static final long READ_COMPLETION = FabricConstants.FI_RMA | FabricConstants.FI_READ;

    final Endpoint endpoint;
    final Domain domain;
    final String provider;
    /** The queue of transmits, its slots and its guard. */
    final CompletionQueue queue;
    final ContextSlab contexts;
    final ThreadGuard guard;
    /** Changed by {@link #unlockedThread(Thread)} alone. */
    Thread unlockedThread;
    /** The flags of operations without flags of their own. */
    final long defaultFlags;
    /** The endpoint's number, with {@link ContextSlab#SILENT} if successful operations are not reported. */
    final long number;
    /** The most bytes of an operation with the default flags. */
    final long maximumMessageSize;
    /** The most bytes of an operation with flags of its own. */
    final long maximumWithFlags;
    final long injectSize;
    private final long reported;
    private final long unreported;
    private final long completionDataSize;
    /** Why an operation of no bytes with DELIVERY_COMPLETE is refused, or null. */
    private final String emptyDeliveryRefusal;
    /** Whether reads of no bytes are completed by {@link #completeEmptyRead}. */
    final boolean emptyReadsHang;

    PostPath(Endpoint endpoint) {
        FabricInfo info = endpoint.info();
        this.endpoint = endpoint;
        this.domain = endpoint.domain;
        this.provider = info.provider();
        this.queue = endpoint.bindings.transmitQueue();
        this.contexts = queue.contexts;
        this.guard = queue.guard;
        this.unlockedThread = guard.unlockedThread();
        this.reported = ContextSlab.endpoint(endpoint.number);
        this.unreported = reported | (endpoint.bindings.isSelective() ? ContextSlab.SILENT : 0);
        this.defaultFlags = Hints.bits(info.transmit().operationFlags(), OperationFlag::bit);
        this.number = numberFor(defaultFlags);
        long promised = info.endpoint().maximumMessageSize();
        this.maximumWithFlags = endpoint.quirks.has(Fact.LENGTHS_HAVE_32_BITS)
                ? Math.min(promised, MAX_OF_32_BITS)
                : promised;
        this.injectSize = info.transmit().injectSize();
        this.maximumMessageSize = endpoint.injectsByDefault()
                ? Math.min(injectSize, maximumWithFlags)
                : maximumWithFlags;
        this.completionDataSize = info.domain().completionDataSize();
        this.emptyDeliveryRefusal = endpoint.quirks.refusal(Fact.EMPTY_DELIVERIES_HANG);
        this.emptyReadsHang = endpoint.quirks.has(Fact.EMPTY_READS_HANG);
    }

    /** Sets the thread that need not enter the guards, or null. */
    void unlockedThread(Thread thread) {
        unlockedThread = thread;
    }

    /** As {@link #number}, for an operation with these flags. */
    final long numberFor(long flags) {
        return (flags & COMPLETION) == 0 ? unreported : reported;
    }

    /**
     * Whether the provider has accepted the operation with this context. If not, its slot is freed. The peer may be
     * null.
     */
    final boolean accepted(long context, long status, String operation, Peer peer) {
        if (status != 0) { refused(contexts, context, status, operation, peer); }
        return status == 0;
    }

    /** As {@link #accepted(long, long, String, Peer)}, for an operation without a context. */
    final boolean accepted(long status, String operation, Peer peer) {
        if (status != 0) { requireFull(status, operation, peer); }
        return status == 0;
    }

    /** Frees the slot of an operation that the provider has refused. */
    final void refused(ContextSlab slots, long context, long status, String operation, Peer peer) {
        slots.release(context);
        requireFull(status, operation, peer);
    }

    /** Counts an operation that found no room. Any other status is thrown as an exception. */
    private void requireFull(long status, String operation, Peer peer) {
        if (status != -Errno.EAGAIN) {
            throw Status.exception(status, operation, peer == null ? "" : " to " + peer, provider);
        }
        endpoint.timesFull++;
    }

    /** Makes progress until there is room for an operation that found none; the peer may be null. */
    final void awaitRoom(String operation, Peer peer, BooleanSupplier attempt) {
        endpoint.awaitRoom(queue, operation, peer, attempt);
    }

    /**
     * Completes and counts a read of no bytes, which the provider would never complete. Returns false if there is no
     * room.
     */
    final boolean completeEmptyRead(long number, long token) {
        boolean isSilent = (number & ContextSlab.SILENT) != 0;
        if (!isSilent && !queue.buffer(token, READ_COMPLETION, 0)) { return false; }
        Counter counter = endpoint.bindings.counters.of(CounterEvent.READ);
        if (counter != null) { counter.countOne(); }
        return true;
    }

    /** Refuses an operation of no bytes with these flags if the provider would never complete it. */
    final void requireEmptyCompletes(long flags) {
        if ((flags & DELIVERY_COMPLETE) != 0) { Quirks.require(emptyDeliveryRefusal); }
    }

    final void requireInside(MemoryRegion local, long offset, long length) {
        if ((offset | length) < 0 || offset > local.length - length) {
            throw local.hasSeveralSegments() ? local.severalSegments() : outOfBounds("", offset, length, local.length);
        }
    }

    final void requireLength(String what, long length) {
        if (length > maximumMessageSize) { throw tooLong(what, length, maximumMessageSize); }
    }

    final void requireInjectable(long length) {
        if (length > injectSize) { throw tooLong("an inject", length, injectSize); }
    }

    final void requireData(long data) {
        if (completionDataSize < Long.BYTES
                && (completionDataSize == 0 || data >>> completionDataSize * Byte.SIZE != 0)) {
            throw badData(data);
        }
    }

    final void requireDomain(MemoryRegion local) {
        if (local.domain != domain) {
            throw new IllegalArgumentException("the local region is registered in another domain");
        }
    }

    final void requireVector(Peer peer) {
        AddressVector vector = endpoint.bindings.vector();
        if (peer.vector != vector) {
            throw new IllegalArgumentException(peer + " is not "
                    + (vector.isConnectionOriented() ? "the peer" : "in the address vector") + " of " + endpoint);
        }
    }

    /** Checks a peer to receive from, or to join with. */
    final void requireReachable(Peer peer) {
        if (peer.reachableVector != endpoint.bindings.vector() || endpoint.isClosed()) {
            requireVector(peer);
            throw unreachable(peer);
        }
    }

    /** Checks that a prepared operation to a peer may be posted now. */
    final void requireOpen(Segments local, Peer peer) {
        if (peer.reachableVector != endpoint.reachableVector) {
            endpoint.bindings.requireSending();
            throw unreachable(peer);
        }
        requireOpen(local);
    }

    final void requireOpen(Segments local) {
        if (local.only != null) {
            requireOpen(local.only);
        } else {
            requireAllOpen(local);
        }
    }

    private static void requireAllOpen(Segments local) {
        for (int i = 0; i < local.count; i++) {
            requireOpen(local.regions[i]);
        }
    }

    private static void requireOpen(MemoryRegion region) {
        if (region.rights == 0 || !region.isMemoryAlive()) { throw closed(region); }
    }

    /** Checks a flag of a prepared operation. */
    void requireOffered(OperationFlag flag) {
        Capability needed = switch (flag) {
            case FENCE -> Capability.FENCE;
            case COMMIT_COMPLETE -> Capability.RMA_PMEM;
            default -> null;
        };
        if (needed != null && (endpoint.info().capabilityBits() & needed.bit()) == 0) {
            throw new UnsupportedOperationException(flag + " needs Capability." + needed + ", which " + endpoint
                    + " lacks: ask for it in FabricHints, or for another provider");
        }
        if (flag == OperationFlag.REMOTE_CQ_DATA) { requireData(0); }
        if (flag == OperationFlag.MATCH_COMPLETE && (defaultFlags & flag.bit()) == 0) {
            throw new UnsupportedOperationException("MATCH_COMPLETE is not a default flag of " + endpoint
                    + ": ask for it with FabricHints.operationFlags, which finds only providers that have it");
        }
    }

    final RuntimeException unreachable(Peer peer) {
        if (endpoint.isClosed()) { return endpoint.closed(); }
        return endpoint.bindings.vector().isConnectionOriented()
                ? endpoint.bindings.requireConnection().notConnected()
                : new IllegalStateException(peer + " was removed, or its endpoint in this process is closed");
    }

    /** {@return why an operation on this region to this peer is refused although its values are right} */
    final RuntimeException closed(MemoryRegion local, Peer peer) {
        return endpoint.isClosed() || !peer.isReachable() ? unreachable(peer) : closed(local);
    }

    static IllegalStateException closed(MemoryRegion local) {
        return new IllegalStateException(!local.isOpen()
                ? local.toString()
                : local.kind() == MemoryKind.DEVICE
                        ? "the device's memory of this region was freed: close the region first"
                        : "the arena of this region's memory is closed");
    }

    static IllegalArgumentException lacking(MemoryRegion local, long right) {
        return new IllegalArgumentException(
                "the region is registered for " + local.access() + ", which lacks " + Access.setOf(right));
    }

    static IndexOutOfBoundsException outOfBounds(String where, long offset, long length, long size) {
        return new IndexOutOfBoundsException(
                length + " bytes at " + where + "offset " + offset + " are not inside a region of " + size + " bytes");
    }

    final IllegalArgumentException tooLong(String what, long length, long limit) {
        return new IllegalArgumentException(
                what + " on provider " + provider + " has at most " + limit + " bytes, not " + length);
    }

    private RuntimeException badData(long data) {
        if (completionDataSize == 0) {
            return new UnsupportedOperationException("completion data is not offered by the provider " + provider
                    + " here: ask for it with AttributeHints.completionDataSize, or notify the peer in another way");
        }
        return new IllegalArgumentException("completion data of provider " + provider + " has " + completionDataSize
                + " bytes, too few for 0x" + Long.toHexString(data));
    }
}
