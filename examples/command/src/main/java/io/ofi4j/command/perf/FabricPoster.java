package io.ofi4j.command.perf;

import io.ofi4j.info.AtomicForm;
import io.ofi4j.Atomics;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Tagged;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;

/** Posts operations of libfabric. */
final class FabricPoster implements Poster {
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
        return atomics.tryFetch(AtomicOperation.SUM, Datatype.UINT64, region, offset, 1, region, result, peer, remote,
                targetOffset, token);
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
