package io.ofi4j.command.perf;

import io.ofi4j.Access;
import io.ofi4j.Atomics;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.RawKey;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Tagged;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.MemoryRegionMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An end that is an endpoint of libfabric. */
abstract class FabricEnd extends End {
    private final Domain domain;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    /** Of a device, with a copy in the host's; null where the region has memory of the host. */
    private final CudaMemory cuda;
    private final MemorySegment copy;
    private FabricPoster poster;

    FabricEnd(FabricDevice device, Plan plan, boolean isTarget) {
        super(plan, isTarget);
        int inFlight = plan.inFlight(isTarget);
        domain = device.domain();
        try {
            queue = keep(inFlight > domain.info().transmit().size()
                    ? domain.openCompletionQueue(inFlight)
                    : domain.openCompletionQueue());
            Access[] access = plan.access(isTarget);
            cuda = device.memory().flatMap(choice -> choice.allocate(length())).map(this::keep).orElse(null);
            region = keep(cuda == null
                    ? allocate(domain, length(), access)
                    : domain.register(device.memory().orElseThrow().attributes(cuda, length()).access(access)));
            copy = cuda == null ? null : keep(Arena.ofShared()).allocate(length());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private static MemoryRegion allocate(Domain domain, long length, Access... access) {
        try {
            return domain.allocate(length, access);
        } catch (OutOfMemoryError e) {
            throw new CommandFailure(
                    "There is no memory for a region of " + length + " bytes: ask for smaller sizes (-S).", e);
        }
    }

    /**
     * {@return an endpoint that is not enabled yet, which is promised the length of its messages} Both ends know it
     * from the client's setup. Calls over shared memory then take less time.
     */
    final Endpoint promised(Endpoint endpoint) {
        long longest = plan.operation().isTwoSided() ? plan.longestReceive(isTarget) : 0;
        return longest > 0 ? endpoint.longestMessage(longest) : endpoint;
    }

    /** An endpoint is enabled. */
    final void postWith(Endpoint endpoint) {
        if (isTarget && !plan.hasResponder()) { return; }
        poster = new FabricPoster(plan.operation(), endpoint, region);
        receive(poster);
    }

    /** A target has a peer, and writes into its memory where it answers writes. */
    final void admitted(Peer peer, byte[] itsRegion) {
        if (poster == null) { return; }
        if (plan.answersWrites()) {
            poster.towards(peer, RemoteRegion.decode(itsRegion));
        } else {
            poster.towards(peer);
        }
    }

    final void towards(Peer peer, RemoteRegion remote) { poster.towards(peer, remote); }

    @Override
    final Poster poster() { return poster; }

    @Override
    final byte[] remote() { return hasRawKeys() ? region.rawKey().encode() : region.remote().encode(); }

    private boolean hasRawKeys() { return domain.info().domain().memoryRegionMode().contains(MemoryRegionMode.RAW); }

    /** {@return the memory of another end, from what its {@link #remote} says} */
    final RemoteRegion remoteOf(byte[] remote) {
        return hasRawKeys() ? keep(domain.mapRawKey(RawKey.decode(remote))).remote() : RemoteRegion.decode(remote);
    }

    @Override
    final MemorySegment memory() { return copy == null ? region.segment() : copy; }

    @Override
    final void store() { if (cuda != null) { cuda.put(copy); } }

    @Override
    final void load() { if (cuda != null) { cuda.get(copy); } }

    @Override
    final boolean take(Completions completions) { return queue.poll(completions, BATCH) > 0; }

    final CompletionQueue queue() { return queue; }

    /** Posts operations of libfabric. */
    private static final class FabricPoster implements Poster {
        private final Operation operation;
        private final Endpoint endpoint;
        private final MemoryRegion region;
        private final Messages messages;
        private final Tagged tagged;
        private Rma rma;
        private Atomics atomics;
        private Peer peer;
        private RemoteRegion remote;

        FabricPoster(Operation operation, Endpoint endpoint, MemoryRegion region) {
            this.operation = operation;
            this.endpoint = endpoint;
            this.region = region;
            this.messages = operation == Operation.MSG ? endpoint.messages() : null;
            this.tagged = operation == Operation.TAGGED ? endpoint.tagged() : null;
        }

        /** From now on it posts to this peer. */
        void towards(Peer to) { peer = to; }

        /** From now on it posts to this memory of a peer; an endpoint with connections is connected. */
        void towards(Peer to, RemoteRegion itsRegion) {
            peer = to;
            remote = itsRegion;
            if (operation.isTwoSided()) { return; }
            if (operation != Operation.ATOMIC) {
                rma = endpoint.rma();
                return;
            }
            atomics = endpoint.atomics();
            if (atomics.valid(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.UINT64) == 0) {
                throw new CommandFailure("Provider " + endpoint.info().provider()
                        + " cannot add to 64-bit integers and fetch them: choose another (-p).");
            }
        }

        @Override
        public boolean tryWrite(long offset, long size, long targetOffset, long token) {
            return rma.tryWrite(region, offset, size, peer, remote, targetOffset, token);
        }

        @Override
        public boolean tryWriteData(long offset, long size, long data, long targetOffset, long token) {
            return rma.tryWriteData(region, offset, size, data, peer, remote, targetOffset, token);
        }

        @Override
        public boolean tryInject(long offset, long size, long targetOffset) {
            return rma.tryInjectWrite(region, offset, size, peer, remote, targetOffset);
        }

        @Override
        public boolean tryRead(long offset, long size, long targetOffset, long token) {
            return rma.tryRead(region, offset, size, peer, remote, targetOffset, token);
        }

        @Override
        public boolean tryFetchAdd(long offset, long result, long targetOffset, long token) {
            return atomics.tryFetch(AtomicOperation.SUM, Datatype.UINT64, region, offset, 1, region, result, peer,
                    remote, targetOffset, token);
        }

        @Override
        public boolean trySend(long offset, long size, long tag, long token) {
            if (operation == Operation.WRITEDATA) {
                long answers = tag < Conversation.ANSWER_TAGS ? 0 : remote.length() / 2;
                return rma.tryWriteData(region, offset, size, tag % Conversation.ANSWER_TAGS, peer, remote,
                        answers + offset, token);
            }
            return messages != null
                    ? messages.trySend(region, offset, size, peer, token)
                    : tagged.trySend(region, offset, size, peer, tag, token);
        }

        @Override
        public boolean tryReceive(long offset, long size, long tag, long token) {
            if (operation == Operation.WRITEDATA) { return true; } // the peer's write needs none
            return messages != null
                    ? messages.tryReceive(region, offset, size, token)
                    : tagged.tryReceive(region, offset, size, tag, 0, token);
        }

        @Override
        public long targetLength() { return remote.length(); }
    }
}
