package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.info.Durability;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.internal.engine.SaveMessage;
import io.ofi4j.internal.engine.SaveMessage.Field;
import io.ofi4j.internal.ffi.RmaMessageStruct;
import io.ofi4j.internal.os.Errno;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The saves of one endpoint. Each waits until what was posted before it has completed, sends a fence, which is a write of a number
 * behind all that, and asks the owner's {@link SaveService}, which answers once it has seen the fence and made the bytes durable.
 * Polls of the domain's queues go on with it. One fence at a time is in flight.
 */
final class Saves implements Runnable {
    private static final int MOST = 64;
    private static final int ID_SHIFT = 8;
    /** Of a save that names no region. */
    private static final RemoteRegion NOWHERE = new RemoteRegion(0, 0, 0, 0);

    private final Endpoint endpoint;
    private final Rma rma;
    private final CompletionQueue queue;
    private final SaveLink link;
    private final MemoryRegion fenceSource;
    private final RmaMessageStruct fence = new RmaMessageStruct(1, 1);
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Peer, Owner> owners = new HashMap<>();
    private final List<Save> pending = new ArrayList<>();
    private Save draining;
    private Save fenced;
    private long lastId;
    private boolean closed;

    private enum State {
        NEW, DRAINING, FENCED, ASKED, DONE
    }

    /** The service of a peer. */
    private static final class Owner {
        final Peer peer;
        final Peer service;
        final RemoteRegion fences;
        long greeting;
        boolean isKnown;
        long writer;
        long secret;
        long lastFence;
        int error;

        Owner(Peer peer, Peer service, RemoteRegion fences) {
            this.peer = peer;
            this.service = service;
            this.fences = fences;
        }
    }

    private static final class Save {
        final Owner owner;
        /** The kind of message that asks for it. */
        final int request;
        final RemoteRegion region;
        final Durability level;
        final long token;
        final long id;
        /** For the owner's queue. */
        final OptionalLong data;
        State state = State.NEW;
        long fenceNumber;
        /** The number of the level. */
        int reached;
        int error;

        Save(Owner owner, int request, RemoteRegion region, Durability level, long token, long id, OptionalLong data) {
            this.owner = owner;
            this.request = request;
            this.region = region;
            this.level = level;
            this.token = token;
            this.id = id;
            this.data = data;
        }

        void end(int errno) {
            state = State.DONE;
            error = errno;
        }
    }

    /** Opens what the first service needs. */
    Saves(Endpoint endpoint, Rma rma, Peer first) {
        if (endpoint.original != null) {
            throw new UnsupportedOperationException("the saves of " + endpoint
                    + " are those of the endpoint it was made from: save there what was written here, too");
        }
        this.endpoint = endpoint;
        this.rma = rma;
        this.queue = endpoint.bindings.transmitQueue();
        requireReachable(first);
        this.fenceSource = endpoint.domain.allocate(2 * Long.BYTES, Access.WRITE);
        this.link = new SaveLink(endpoint.domain, fenceSource, new SaveLink.Receiver() {
            @Override
            public void received(SaveMessage message, int kind, long length) { take(message, kind); }

            @Override
            public void failed(Object about, CompletionError error) { fail(about, error.errno()); }
        });
        queue.doChores();
    }

    /** Remembers the service of a peer. */
    void attach(Peer peer, SaveService.Ticket ticket) {
        requireReachable(peer);
        Peer service = link.peers.insert(ticket.address());
        lock.lock();
        try {
            owners.put(peer, new Owner(peer, service, ticket.fences()));
        } finally {
            lock.unlock();
        }
    }

    private static void requireSavable(RemoteRegion region, Durability level) {
        if ((region.accessBits() & Access.REMOTE_WRITE.bit()) == 0) {
            throw new IllegalArgumentException("the remote region is registered for " + region.access()
                    + ", which lacks REMOTE_WRITE: there is nothing to save");
        }
        Durability most = Durability.of(region.kind());
        if (!most.meets(level)) {
            throw new UnsupportedOperationException("bytes in memory of kind " + region.kind() + " are " + most
                    + " at most, not " + level + ": let the owner map a file on a disk with Domain.map");
        }
    }

    private void requireReachable(Peer peer) {
        try (var _ = queue.guard.enter()) {
            rma.requireReachable(peer);
        }
    }

    /** Begins a save of what was written to a region; false if so many are under way. */
    boolean trySave(Peer peer, RemoteRegion region, Durability level, long token, OptionalLong data) {
        requireReachable(peer);
        requireSavable(region, level);
        return trySave(peer, SaveMessage.REQUEST, region, level, token, data);
    }

    /** Begins a save of what atomic operations have changed in a region; false if so many are under way. */
    boolean trySaveAtomics(Peer peer, RemoteRegion region, Durability level, long token) {
        requireReachable(peer);
        requireSavable(region, level);
        return trySave(peer, SaveMessage.REQUEST_POLLED, region, level, token, OptionalLong.empty());
    }

    /** Begins a save of what receives of the peer have taken; false if so many are under way. */
    boolean trySaveReceived(Peer peer, Durability level, long token) {
        requireReachable(peer);
        return trySave(peer, SaveMessage.REQUEST_RECEIVED, NOWHERE, Objects.requireNonNull(level, "level"), token,
                OptionalLong.empty());
    }

    private boolean trySave(Peer peer, int request, RemoteRegion region, Durability level, long token,
            OptionalLong data) {
        lock.lock();
        try {
            Owner owner = owners.get(peer);
            if (owner == null) { throw notAttached(peer); }
            if (pending.size() == MOST) { return false; }
            if (pending.isEmpty()) { endpoint.domain.closingRegions.add(this); }
            pending.add(new Save(owner, request, region, level, token, ++lastId << ID_SHIFT | level.ordinal(), data));
            advance();
            return true;
        } finally {
            lock.unlock();
        }
    }

    static IllegalStateException notAttached(Peer peer) {
        return new IllegalStateException(
                "no save service of " + peer + " is known here: pass its ticket to Rma.saveThrough first");
    }

    @Override
    public void run() {
        if (!link.admitsCaller() || lock.isHeldByCurrentThread() || !lock.tryLock()) { return; }
        try {
            if (closed) { return; }
            link.poll();
            advance();
        } catch (FabricException e) { // of the queue
            pending.forEach(save -> save.end(e.errno()));
        } finally {
            lock.unlock();
        }
    }

    private void take(SaveMessage message, int kind) {
        long id = message.get(Field.ID);
        int error = (int) message.get(Field.FENCE);
        if (kind == SaveMessage.WELCOME) {
            owners.values().stream().filter(owner -> owner.greeting == id).forEach(owner -> {
                owner.isKnown = true;
                owner.error = error;
                owner.writer = message.get(Field.WRITER);
                owner.secret = message.get(Field.SECRET);
            });
        } else if (kind == SaveMessage.ANSWER) {
            pending.stream().filter(save -> save.id == id && save.state == State.ASKED).forEach(save -> {
                save.reached = (int) message.get(Field.KEY);
                save.end(error);
            });
        }
    }

    private void fail(Object about, int errno) {
        if (about instanceof Save save) {
            save.end(errno);
        } else if (about instanceof Owner owner) { owner.error = errno; }
    }

    private void advance() {
        int failed = queue.fenceError(endpoint.number);
        if (failed != 0 && fenced != null) { fenced.end(failed); }
        pending.removeIf(this::isDelivered);
        if (pending.isEmpty()) { endpoint.domain.closingRegions.remove(this); }
    }

    /** Goes on with a save; whether the program's queue has its completion. */
    private boolean isDelivered(Save save) {
        try {
            if (save.state == State.NEW) { begin(save); }
            if (save.state == State.DRAINING && !queue.hasEarlier(endpoint)) { fence(save); }
            if (save.state == State.FENCED) { ask(save); }
            if (save.state == State.DONE && save.error == 0 && save.data.isPresent() && !tell(save)) { return false; }
        } catch (FabricException e) {
            save.end(e.errno());
        } catch (IllegalStateException e) { // the peer was removed
            save.end(Errno.ECANCELED);
        }
        return save.state == State.DONE && deliver(save);
    }

    private void begin(Save save) {
        Owner owner = save.owner;
        if (owner.error != 0) {
            save.end(owner.error);
        } else if (!owner.isKnown) {
            greet(owner);
        } else if (draining == null) {
            draining = save;
            queue.markEarlier(endpoint);
            save.state = State.DRAINING;
        }
    }

    private void greet(Owner owner) {
        SaveMessage message = owner.greeting == 0 ? link.next(SaveMessage.GREETING) : null;
        if (message == null) { return; }
        long id = ++lastId;
        message.put(Field.ID, id);
        int length = message.address(link.endpoint.address().encode());
        if (link.send(length, owner.service, owner)) { owner.greeting = id; }
    }

    private void fence(Save save) {
        Owner owner = save.owner;
        long number = owner.lastFence + 1;
        fenceSource.segment().set(JAVA_LONG, 0, number);
        prepare(owner, 0);
        if (rma.tryFence(fence, fenceSource.number, owner.peer, 0)) {
            owner.lastFence = number;
            save.fenceNumber = number;
            save.state = State.FENCED;
            fenced = save;
            draining = null;
        }
    }

    /** A write of the number at this offset of the source, to the same one of what the owner has for this writer. */
    private void prepare(Owner owner, long offset) {
        fence.local.set(0, fenceSource.address + offset, Long.BYTES, fenceSource.descriptor);
        fence.localCount(1, Long.BYTES);
        fence.remote.set(0, owner.fences.base() + owner.writer * SaveService.FENCE_BYTES + offset, Long.BYTES,
                owner.fences.key());
        fence.remoteCount(1);
        fence.peer(owner.peer.fabricAddress);
    }

    /** Gives the owner's queue the data of a save that is done, with a write of a number that nobody reads. */
    private boolean tell(Save save) {
        prepare(save.owner, Long.BYTES);
        fence.data(save.data.getAsLong());
        return rma.tryFence(fence, fenceSource.number, save.owner.peer, OperationFlag.REMOTE_CQ_DATA.bit());
    }

    private void ask(Save save) {
        SaveMessage message = link.next(save.request);
        if (message == null) { return; }
        message.put(Field.ID, save.id).put(Field.WRITER, save.owner.writer).put(Field.SECRET, save.owner.secret)
                .put(Field.FENCE, save.fenceNumber).put(Field.KEY, save.region.key())
                .put(Field.ADDRESS, save.region.base()).put(Field.LENGTH, save.region.length());
        if (link.send(SaveMessage.LENGTH, save.owner.service, save)) { save.state = State.ASKED; }
    }

    private boolean deliver(Save save) {
        if (draining == save) { draining = null; }
        if (fenced == save) { fenced = null; }
        if (save.error != 0) {
            queue.failed(error(save, save.error));
            return true;
        }
        return queue.saved(save.token, save.reached);
    }

    private CompletionError error(Save save, int errno) {
        String text = switch (errno) {
            case Errno.ENOKEY -> save.request == SaveMessage.REQUEST_RECEIVED
                    ? "save: the owner's service has no open region for receives: SaveService.coverReceives names one"
                    : "save: the owner has no such region any more";
            case Errno.EPERM -> "save: the owner's queues belong to several threads, so that nobody may poll them all";
            case Errno.EOPNOTSUPP -> "save: the owner's memory does not last so long";
            case Errno.EINVAL -> "save: the bytes are not all inside the owner's region";
            case Errno.EKEYREJECTED -> "save: peers may not write this region";
            case Errno.EIO -> "save: the owner could not write its file";
            case Errno.ENOSPC -> "save: the owner serves " + SaveService.MOST_WRITERS + " writers, and no more";
            case Errno.ECANCELED -> "save: the endpoint was closed";
            default -> "save";
        };
        return new CompletionError(save.token, CompletionQueue.SAVED, 0, 0, 0, 0, 0, errno, 0, text, new byte[0],
                endpoint.info().provider());
    }

    /** Reports what is under way as canceled. May be called again if it throws. */
    void close() {
        lock.lock();
        try {
            if (!closed) { end(); }
        } finally {
            lock.unlock();
        }
        link.close();
    }

    private void end() {
        closed = true;
        endpoint.domain.closingRegions.remove(this);
        pending.forEach(save -> queue.failed(error(save, Errno.ECANCELED)));
        pending.clear();
        owners.values().stream().filter(owner -> owner.isKnown && owner.error == 0).forEach(this::leave);
        link.poll();
    }

    /** So that the owner forgets this writer; it is not awaited. */
    private void leave(Owner owner) {
        SaveMessage message = link.next(SaveMessage.LEAVE);
        if (message == null) { return; }
        message.put(Field.WRITER, owner.writer).put(Field.SECRET, owner.secret);
        try {
            link.send(SaveMessage.LENGTH, owner.service, owner);
        } catch (FabricException | IllegalStateException e) {
            owner.error = Errno.ECANCELED; // the owner has left before
        }
    }
}
