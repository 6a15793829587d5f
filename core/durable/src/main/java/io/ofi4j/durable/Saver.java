package io.ofi4j.durable;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveMessage.Field;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The writer's side of saves, for one endpoint: a save makes bytes that the endpoint has written to a peer durable
 * there, and completes when they are. The peer has a {@link SaveService}.
 *
 * <pre>{@code
 * Saver saver = new Saver(domain, endpoint, queue);
 * saver.saveThrough(peer, ticket);                       // once for each peer
 * endpoint.rma().write(log.slice(0, length), peer, remote.slice(at, length), 1);
 * saver.save(peer, remote, Durability.POWER_SAFE, 2);  // token 2 comes back when the earlier writes are durable
 * saver.poll(handler, 64);
 * }</pre>
 *
 * <p><b>What a save does.</b> It flushes the peer ({@link Rma#tryFlush}), and when the flush has completed, asks the
 * service to make the bytes durable. Writes that are posted after a save do not wait for it, and are not slower. At
 * most 64 saves may be in flight.
 *
 * <p><b>Completions.</b> A save gives one completion, with its token. Saves may complete in another order than they
 * were posted in. The flags are those of a write, and the data is the number ({@link Enum#ordinal}) of the
 * {@link Durability} reached, which is at least the one that was asked for. If a save fails, the error has one of these
 * numbers: {@code ENOKEY} (126) if the owner has no such region any more; {@code EINVAL} (22) if the bytes are not all
 * inside it; {@code EKEYREJECTED} (129) if peers may not write it; {@code EOPNOTSUPP} (95) if its memory cannot reach
 * the level; {@code EACCES} (13) if its memory is confined to another thread of the owner; {@code EIO} (5) if the owner
 * could not write its file, now or since it mapped it, or the file was made shorter than the bytes: each later save of
 * it at {@link Durability#POWER_SAFE} fails, too; {@code ENOSPC} (28) if the owner has no room for another writer now;
 * {@code EPROTO} (71) if the owner's answer does not fit the request; {@code ECANCELED} (125) if this saver or the
 * endpoint was closed: if the save has data for the peer, its bytes may be durable then, and the peer's queue was not
 * told; or the number of the flush or message that failed. As with other operations, a save whose owner has gone may
 * never complete; closing the saver ends it.
 *
 * <p><b>Polling.</b> {@link #poll} polls the queue, makes progress on saves, and passes the completions of both to the
 * handler. The program must call it: nothing else makes progress on saves. If other code polls the same queue, it must
 * poll with the handler that {@link #handler} returns, and the program must still call {@link #poll}. Tokens of the
 * saver's own operations begin with the bytes 0x5341.
 *
 * <p><b>Threads.</b> With {@link ThreadingModel#SAFE} any thread may call the methods, otherwise only the thread that
 * the endpoint belongs to; others get {@link WrongThreadException}. {@link #saveThrough} and the saves throw
 * IllegalStateException once the saver is closed.
 */
public final class Saver implements AutoCloseable {
    /** The largest number of saves in flight. */
    public static final int MAX_SAVES = 64;

    private static final int ID_SHIFT = 8;
    private static final long TOKEN_MARK = 0x5341L << 48;
    private static final long MARK_BITS = 0xffffL << 48;
    private static final int NUMBER_SHIFT = 32;
    private static final int MAX_NUMBER = 0xffff;
    /** The numbers of open savers. They are given in turn, since flushes may outlive their saver. */
    private static final BitSet NUMBERS = new BitSet();
    private static int lastNumber;
    private static final SecureRandom RANDOM = new SecureRandom();
    /** How long an answer may take before the service is asked whether it still knows this writer. */
    private static final Duration GREETING_INTERVAL = Duration.ofSeconds(5);
    private static final int LEVELS = Durability.values().length;
    /** The flags of the completion of a save. */
    private static final long SAVED = CompletionFlags.RMA | CompletionFlags.WRITE;
    /** The offset in the peer's flushed region of the write that notifies it: behind the flushed bytes. */
    private static final int NOTIFICATION_OFFSET = 8;
    /** The region of a save that names none. */
    private static final RemoteRegion NOWHERE = new RemoteRegion(0, 0, 0, 0);

    private final Domain domain;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final Rma rma;
    private final SaveLink link;
    /** The upper half of the tokens of this saver. */
    private final int number;
    private final long ownMark;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Peer, Service> services = new HashMap<>();
    /** The saves in flight, the oldest first, and those that a poll is to report. */
    private final List<Save> pending = new ArrayList<>(MAX_SAVES);
    /** Saves that have completed while another waited to be accepted, for the next poll of the program. */
    private final Queue<Save> completed = new ArrayDeque<>();
    /** Completions that a waiting save has read, for the next poll of the program. */
    private final Queue<BufferedCompletion> buffered = new ArrayDeque<>();
    private final AtomicReference<FlushFilter> idle = new AtomicReference<>();
    private final AtomicReference<DetailedFlushFilter> idleDetailed = new AtomicReference<>();
    /**
     * The last number of a save. The first is random, so that an answer to an earlier saver with this address is not
     * mistaken for one of ours.
     */
    private long lastId = RANDOM.nextLong() >>> ID_SHIFT;
    private volatile boolean closed;

    private enum State {
        NEW, FLUSHING, FLUSHED, ASKED, SAVED, DONE
    }

    /** The service of peers. */
    private static final class Service {
        final SaveService.Ticket ticket;
        final Peer peer;
        /** What the last greeting was, or 0; random, as who knows it may answer it. */
        long greeting;
        long greeted;
        boolean isKnown;
        long writer;
        long secret;

        Service(SaveService.Ticket ticket, Peer peer) {
            this.ticket = ticket;
            this.peer = peer;
        }
    }

    private static final class Save {
        final Peer peer;
        final Service service;
        /** The kind of its request. */
        final int request;
        final RemoteRegion region;
        final Durability level;
        final long token;
        final long id;
        /** The data for the peer's queue. */
        final OptionalLong data;
        State state = State.NEW;
        /** The number of the level reached. */
        long reached;
        int error;
        String why = "";

        Save(Peer peer, Service service, int request, RemoteRegion region, Durability level, long token, long id,
                OptionalLong data) {
            this.peer = peer;
            this.service = service;
            this.request = request;
            this.region = region;
            this.level = level;
            this.token = token;
            this.id = id;
            this.data = data;
        }

        long messageId() { return id << ID_SHIFT | level.ordinal(); }

        void end(int errno) {
            state = State.DONE;
            error = errno;
        }
    }

    /** A completion, or an error. */
    private record BufferedCompletion(long token, long flags, long length, long data, long buffer, long tag,
            long source, CompletionError error) {}

    /**
     * Opens a saver, which has an endpoint of its own for messages.
     *
     * @param domain the domain of the endpoint, with {@link Capability#MSG}; close the saver before it
     * @param endpoint an enabled endpoint with {@link Capability#RMA}; the caller owns it, and may close it before or
     *         after the saver
     * @param queue the queue that reports what the endpoint transmits
     * @throws IllegalArgumentException if the endpoint reports that in another queue
     * @throws UnsupportedOperationException if the endpoint is connected, a capability is missing, or the provider has
     *         no flush
     * @throws IllegalStateException if the endpoint is closed, or not enabled
     * @throws FabricException if libfabric reports an error
     */
    public Saver(Domain domain, Endpoint endpoint, CompletionQueue queue) {
        SaveLink.requireOffered(domain);
        this.domain = domain;
        this.endpoint = endpoint;
        this.queue = Objects.requireNonNull(queue, "queue");
        this.rma = endpoint.rma();
        if (!endpoint.completionQueue(Direction.TRANSMIT).equals(Optional.of(queue))) {
            throw new IllegalArgumentException("no write of " + endpoint + " completes in " + queue
                    + ": pass the queue that is bound to the endpoint for transmits");
        }
        queue.operationsInFlight(); // checks, before anything is opened, that this thread may use the queue
        this.number = takeNumber();
        this.ownMark = TOKEN_MARK | (long) number << NUMBER_SHIFT;
        this.link = new SaveLink(domain, null, new SaveLink.Receiver() {
            @Override
            public void received(SaveMessage message, int kind, long length) { take(message, kind); }

            @Override
            public void failed(Object about, CompletionError error) { fail(about, error.errno(), error.text()); }
        });
    }

    /**
     * Names the service of a peer. Call it once for each peer. A second call replaces the service for later saves.
     *
     * @param peer the peer
     * @param ticket the peer's {@link SaveService#ticket}; several peers may have the same
     * @throws IllegalStateException if the saver or the endpoint is closed
     */
    public void saveThrough(Peer peer, SaveService.Ticket ticket) {
        Objects.requireNonNull(peer, "peer");
        Objects.requireNonNull(ticket, "ticket");
        lock.lock();
        try {
            requireOpen();
            endpoint.rma(); // checks that it is open, and this thread's
            Service known = services.values().stream().filter(one -> one.ticket.equals(ticket)).findFirst()
                    .orElse(null);
            services.put(peer, known != null ? known : new Service(ticket, link.peers.insert(ticket.address())));
        } finally {
            lock.unlock();
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Starts a save: it makes the writes and atomic operations to a peer's region that the endpoint has posted so far
     * durable. Pass a {@link RemoteRegion#slice} to save only a range. It is not an error if the endpoint has written
     * nothing. When the save completes, earlier writes to other regions of the peer have arrived too.
     *
     * @param peer the owner of the region; {@link #saveThrough} was called for it
     * @param region the region; needs {@link Access#REMOTE_WRITE}
     * @param level what the bytes must survive
     * @param token comes back with the completion
     * @return whether it was accepted; false if 64 saves are in flight: poll, and try again
     * @throws UnsupportedOperationException if the region's kind of memory cannot reach the level
     * @throws IllegalArgumentException if the region lacks the right, or the peer belongs to another vector
     * @throws IllegalStateException if {@link #saveThrough} was not called for the peer, the peer was removed, or the
     *         saver or the endpoint is closed
     */
    public boolean trySave(Peer peer, RemoteRegion region, Durability level, long token) {
        return trySave(peer, region, level, OptionalLong.empty(), token);
    }

    /**
     * As {@link #trySave(Peer, RemoteRegion, Durability, long)}, and gives the peer's queue a completion with data, as
     * {@link Rma#tryInjectWriteData} does, once the bytes are durable.
     *
     * @param data the data for the peer; if it is empty, the peer gets no completion
     * @throws UnsupportedOperationException if the provider does not carry data, or the region's kind of memory cannot
     *         reach the level
     */
    public boolean trySave(Peer peer, RemoteRegion region, Durability level, OptionalLong data, long token) {
        requireSavable(region, level);
        return begin(peer, SaveMessage.REQUEST, region, level, token, data);
    }

    /**
     * As {@link #trySave(Peer, RemoteRegion, Durability, long)}, but waits until it is accepted, at most
     * {@link Endpoint#postTimeout}; then it throws FabricTimeoutException.
     */
    public void save(Peer peer, RemoteRegion region, Durability level, long token) {
        await("save", () -> trySave(peer, region, level, token));
    }

    /** As {@link #trySave(Peer, RemoteRegion, Durability, OptionalLong, long)}, but waits until it is accepted. */
    public void save(Peer peer, RemoteRegion region, Durability level, OptionalLong data, long token) {
        await("save", () -> trySave(peer, region, level, data, token));
    }

    /**
     * Starts a save of messages: it makes the bytes of earlier messages of the endpoint, with tags or without, durable
     * where receives of the peer have put them. Only the peer knows these places. It names its regions with
     * {@link SaveService#coverReceives}, and the save makes all bytes of these regions durable. It does not cover a
     * message that no receive has taken by then, nor a message in another region. The completion does not say which
     * messages it covered; the completions of the peer's receives do. A long message, and with some providers any
     * message, delays the save until a receive takes it.
     *
     * <p>It completes as other saves do. In addition, it fails with {@code EPERM} (1) if the provider handles messages
     * in the peer's polls and the peer's queues belong to several threads ({@link ThreadingModel#COMPLETION}), and with
     * {@code ENOKEY} (126) if the peer has named no region that is open.
     *
     * @param peer the receiver; {@link #saveThrough} was called for it
     * @param level what the bytes must survive
     * @param token comes back with the completion
     * @return whether it was accepted; false if 64 saves are in flight: poll, and try again
     * @throws IllegalStateException as {@link #trySave(Peer, RemoteRegion, Durability, long)}
     */
    public boolean trySaveMessages(Peer peer, Durability level, long token) {
        return begin(peer, rma.flushCoversMessages() ? SaveMessage.REQUEST_RECEIVED : SaveMessage.REQUEST_POLLED,
                NOWHERE, level, token, OptionalLong.empty());
    }

    /** As {@link #trySaveMessages}, but waits until it is accepted. */
    public void saveMessages(Peer peer, Durability level, long token) {
        await("save of messages", () -> trySaveMessages(peer, level, token));
    }

    private static void requireSavable(RemoteRegion region, Durability level) {
        if (!region.access().contains(Access.REMOTE_WRITE)) {
            throw new IllegalArgumentException("the remote region is registered for " + region.access()
                    + ", which lacks REMOTE_WRITE: there is nothing to save");
        }
        Durability highest = Durability.of(region.kind());
        if (!highest.meets(level)) {
            throw new UnsupportedOperationException("memory of kind " + region.kind() + " reaches at most " + highest
                    + ", not " + level + ": let the owner map a file on a disk with Domain.map");
        }
    }

    private boolean begin(Peer peer, int request, RemoteRegion region, Durability level, long token,
            OptionalLong data) {
        Objects.requireNonNull(peer, "peer");
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(data, "data");
        lock.lock();
        try {
            requireOpen();
            Service service = services.get(peer);
            if (service == null) {
                endpoint.rma();
                throw new IllegalStateException(
                        "no save service of " + peer + " is known here: pass its ticket to saveThrough first");
            }
            if (pending.size() == MAX_SAVES) {
                endpoint.rma();
                return false;
            }
            Save save = new Save(peer, service, request, region, level, token, ++lastId, data);
            flush(save);
            pending.add(save);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Posts the flush of a save. If there is no room, a poll tries again; the flush then covers more than it has to.
     */
    private void flush(Save save) {
        if (rma.tryFlush(save.peer, save.service.ticket.flushed(), tokenOf(save.id))) { save.state = State.FLUSHING; }
    }

    private long tokenOf(long id) { return ownMark | id & 0xffff_ffffL; }

    /**
     * Repeats the attempt until it succeeds. Completions that are polled meanwhile are buffered for the program's next
     * poll.
     */
    private void await(String operation, BooleanSupplier attempt) {
        if (attempt.getAsBoolean()) { return; }
        Duration timeout = endpoint.postTimeout();
        CompletionHandler bufferingHandler = handler(new BufferingHandler());
        boolean accepted = Waiting.YIELD.tryUntil(() -> {
            progressDomain();
            if (bufferedCount() < queue.size()) { queue.poll(bufferingHandler, MAX_SAVES); }
            advanceAll();
            setCompletedAside();
            return attempt.getAsBoolean();
        }, timeout);
        if (!accepted) {
            throw new FabricTimeoutException(operation, timeout, MAX_SAVES
                    + " saves are in flight: are the peers there, do they make progress and serve saves, and does"
                    + " this side poll the saver?");
        }
    }

    /** Only those in flight are in the way of another. */
    private void setCompletedAside() {
        lock.lock();
        try {
            pending.removeIf(save -> save.state == State.DONE && completed.add(save));
        } finally {
            lock.unlock();
        }
    }

    /** Makes progress on the domain: this thread may also own the peer's endpoint. */
    private void progressDomain() {
        try {
            domain.progress();
        } catch (WrongThreadException e) {
            return; // other threads poll their queues themselves
        }
    }

    private int bufferedCount() {
        lock.lock();
        try {
            return buffered.size();
        } finally {
            lock.unlock();
        }
    }

    private final class BufferingHandler implements DetailedCompletionHandler {
        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            buffer(new BufferedCompletion(token, flags, length, data, buffer, tag, source, null));
        }

        @Override
        public void onError(CompletionError error) { buffer(new BufferedCompletion(0, 0, 0, 0, 0, 0, 0, error)); }

        private void buffer(BufferedCompletion one) {
            lock.lock();
            try {
                buffered.add(one);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Takes the completions of flushes, and passes all other completions on. */
    private class FlushFilter implements CompletionHandler {
        CompletionHandler program;
        int passed;

        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (isOwn(token)) {
                flushed(token);
            } else {
                passed++;
                program.onCompletion(token, flags, length, data);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (isOwn(error.token())) {
                failed(error);
            } else {
                passed++;
                program.onError(error);
            }
        }
    }

    private final class DetailedFlushFilter extends FlushFilter implements DetailedCompletionHandler {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            super.onCompletion(token, flags, length, data);
        }

        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            if (isOwn(token)) {
                flushed(token);
            } else {
                passed++;
                ((DetailedCompletionHandler) program).onCompletion(token, flags, length, data, buffer, tag, source);
            }
        }
    }

    private static int takeNumber() {
        synchronized (NUMBERS) {
            int next = NUMBERS.nextClearBit(lastNumber + 1);
            if (next > MAX_NUMBER) { next = NUMBERS.nextClearBit(1); }
            if (next > MAX_NUMBER) {
                throw new IllegalStateException("a process has at most " + MAX_NUMBER + " open savers: close some");
            }
            NUMBERS.set(next);
            lastNumber = next;
            return next;
        }
    }

    private static void freeNumber(int number) {
        synchronized (NUMBERS) {
            NUMBERS.clear(number);
        }
    }

    private boolean isOwn(long token) { return (token & (MARK_BITS | 0xffffL << NUMBER_SHIFT)) == ownMark; }

    private void flushed(long token) {
        lock.lock();
        try {
            for (Save save : pending) {
                if (save.state == State.FLUSHING && tokenOf(save.id) == token) { save.state = State.FLUSHED; }
            }
        } finally {
            lock.unlock();
        }
    }

    private void failed(CompletionError error) {
        lock.lock();
        try {
            pending.stream().filter(save -> save.state == State.FLUSHING && tokenOf(save.id) == error.token())
                    .forEach(save -> fail(save, error.errno(), "the flush failed: " + error.text()));
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return a handler that takes the completions of this saver's flushes, and passes all other completions on} It is
     * for code that polls the queue itself. It works after close.
     *
     * @param program gets the other completions; if it is a {@link DetailedCompletionHandler}, so is the result
     */
    public CompletionHandler handler(CompletionHandler program) {
        FlushFilter filter = program instanceof DetailedCompletionHandler
                ? new DetailedFlushFilter()
                : new FlushFilter();
        filter.program = Objects.requireNonNull(program, "handler");
        return filter;
    }

    /**
     * Polls the queue, makes progress on saves, and passes completions to the handler, as {@link CompletionQueue#poll}
     * does. It works after close, until the queue is closed.
     *
     * @return the number of completions passed to the handler
     * @throws IllegalArgumentException if the limit is below 1
     */
    public int poll(CompletionHandler handler, int limit) {
        if (limit < 1) { throw new IllegalArgumentException("poll takes a limit of at least 1, not " + limit); }
        FlushFilter filter = take(handler);
        try {
            int count = deliverBuffered(handler, limit);
            if (count < limit) {
                queue.poll(filter, limit - count);
                count += filter.passed;
            }
            advanceAll();
            return count + deliverSaves(handler, limit - count);
        } finally {
            filter.program = null;
            if (filter instanceof DetailedFlushFilter detailed) {
                idleDetailed.set(detailed);
            } else {
                idle.set(filter);
            }
        }
    }

    /**
     * As {@link #poll}, but waits for completions, with the pauses of {@link Waiting#BACKOFF}. It returns 0 after the
     * deadline.
     */
    public int await(CompletionHandler handler, int limit, Duration deadline) {
        int[] count = new int[1];
        Waiting.BACKOFF.tryUntil(() -> (count[0] = poll(handler, limit)) > 0, deadline);
        return count[0];
    }

    /** {@return a filter that no other poll uses} */
    private FlushFilter take(CompletionHandler handler) {
        boolean isDetailed = Objects.requireNonNull(handler, "handler") instanceof DetailedCompletionHandler;
        FlushFilter filter = isDetailed ? idleDetailed.getAndSet(null) : idle.getAndSet(null);
        if (filter == null) { filter = isDetailed ? new DetailedFlushFilter() : new FlushFilter(); }
        filter.program = handler;
        filter.passed = 0;
        return filter;
    }

    private int deliverBuffered(CompletionHandler handler, int limit) {
        int count = 0;
        while (count < limit) {
            BufferedCompletion one;
            lock.lock();
            try {
                one = buffered.poll();
            } finally {
                lock.unlock();
            }
            if (one == null) { break; }
            count++;
            if (one.error != null) {
                handler.onError(one.error);
            } else if (handler instanceof DetailedCompletionHandler detailed) {
                detailed.onCompletion(one.token, one.flags, one.length, one.data, one.buffer, one.tag, one.source);
            } else {
                handler.onCompletion(one.token, one.flags, one.length, one.data);
            }
        }
        return count;
    }

    private int deliverSaves(CompletionHandler handler, int limit) {
        int count = 0;
        while (count < limit) {
            Save save = takeDone();
            if (save == null) { break; }
            count++;
            if (save.error != 0) {
                handler.onError(error(save));
            } else {
                handler.onCompletion(save.token, SAVED, 0, save.reached);
            }
        }
        return count;
    }

    private Save takeDone() {
        lock.lock();
        try {
            if (!completed.isEmpty()) { return completed.remove(); }
            for (int one = 0; one < pending.size(); one++) {
                if (pending.get(one).state == State.DONE) { return pending.remove(one); }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Makes progress on saves, unless another thread does. */
    private void advanceAll() {
        if (!lock.tryLock()) { return; }
        try {
            if (closed || pending.isEmpty()) { return; }
            link.poll();
            long now = System.nanoTime();
            for (Save save : pending) {
                advance(save, now);
            }
        } catch (FabricException e) { // the queue has failed
            pending.forEach(save -> fail(save, e.errno(), e.getMessage()));
        } finally {
            lock.unlock();
        }
    }

    private void take(SaveMessage message, int kind) {
        long id = message.get(Field.ID);
        int error = (int) message.get(Field.STATUS);
        long writer = message.get(Field.WRITER);
        long secret = message.get(Field.SECRET);
        if (kind == SaveMessage.WELCOME) {
            services.values().stream().distinct().filter(service -> service.greeting == id).forEach(service -> {
                // a service that had forgotten this writer has dropped its requests
                boolean hasForgotten = service.isKnown && (service.writer != writer || service.secret != secret);
                service.isKnown = error == 0;
                service.writer = writer;
                service.secret = secret;
                if (error != 0) {
                    refuse(service, error, "");
                } else if (hasForgotten) { askAgain(service); }
            });
        } else if (kind == SaveMessage.ANSWER) {
            pending.stream().filter(save -> save.messageId() == id && save.state == State.ASKED
                    && save.service.writer == writer && save.service.secret == secret).forEach(save -> {
                        save.reached = message.get(Field.KEY);
                        if (error != 0) {
                            save.end(error);
                        } else if (save.reached < save.level.ordinal() || save.reached >= LEVELS) {
                            fail(save, Errno.EPROTO, "the owner's answer names no level that was asked for");
                        } else {
                            save.state = State.SAVED;
                        }
                    });
        }
    }

    private void askAgain(Service service) {
        pending.stream().filter(save -> save.service == service && save.state == State.ASKED)
                .forEach(save -> save.state = State.FLUSHED);
    }

    private void fail(Object about, int errno, String why) {
        if (about instanceof Save save && save.state != State.DONE) {
            save.end(errno);
            save.why = why;
        } else if (about instanceof Service service) { refuse(service, errno, why); }
    }

    /** Ends the saves that wait for a service. The next one greets it again: it may have room then. */
    private void refuse(Service service, int errno, String why) {
        service.greeting = 0;
        pending.stream()
                .filter(save -> save.service == service && (save.state == State.FLUSHED || save.state == State.ASKED))
                .forEach(save -> fail(save, errno, why));
    }

    private void advance(Save save, long now) {
        try {
            if (save.state == State.NEW) { flush(save); }
            if (save.state == State.FLUSHED) { ask(save); }
            if (save.state == State.ASKED) { greetAgain(save.service, now); }
            if (save.state == State.SAVED && (save.data.isEmpty() || tryNotify(save))) { save.state = State.DONE; }
        } catch (FabricException e) {
            fail(save, e.errno(), e.getMessage());
        } catch (IllegalStateException e) { // the peer was removed, or the endpoint was closed
            fail(save, Errno.ECANCELED, e.getMessage());
        }
    }

    private void ask(Save save) {
        Service service = save.service;
        if (!service.isKnown) {
            greet(service);
        } else {
            SaveMessage message = link.nextMessage(save.request);
            if (message == null) { return; }
            message.put(Field.ID, save.messageId()).put(Field.WRITER, service.writer).put(Field.SECRET, service.secret)
                    .put(Field.KEY, save.region.key()).put(Field.ADDRESS, save.region.base())
                    .put(Field.LENGTH, save.region.length());
            if (link.send(SaveMessage.LENGTH, service.peer, save)) { save.state = State.ASKED; }
        }
    }

    private void greet(Service service) {
        SaveMessage message = service.greeting == 0 ? link.nextMessage(SaveMessage.GREETING) : null;
        if (message == null) { return; }
        long id = RANDOM.nextLong() | 1;
        message.put(Field.ID, id);
        int length = message.address(link.endpoint.address().encode());
        if (link.send(length, service.peer, service)) {
            service.greeting = id;
            service.greeted = System.nanoTime();
        }
    }

    /** A service that has forgotten this writer drops its requests, and cannot tell: it has no address any more. */
    private void greetAgain(Service service, long now) {
        if (now - service.greeted < GREETING_INTERVAL.toNanos()) { return; }
        service.greeting = 0;
        greet(service);
    }

    /** Gives the peer's queue the data of a save, with a write of a number that is never read. */
    private boolean tryNotify(Save save) {
        return rma.tryInjectWriteData(link.memory, link.spareOffset(), Long.BYTES, save.data.getAsLong(), save.peer,
                save.service.ticket.flushed(), NOTIFICATION_OFFSET);
    }

    private CompletionError error(Save save) {
        String text = switch (save.error) {
            case Errno.ENOKEY -> save.request != SaveMessage.REQUEST
                    ? "save: the owner's service has no open region for receives: the owner must call"
                            + " SaveService.coverReceives"
                    : "save: the owner has no such region any more";
            case Errno.EPERM ->
                "save: the owner's queues belong to several threads, so that no thread may poll all of them";
            case Errno.EACCES -> "save: the owner's memory is confined to another thread than that of its service: let"
                    + " it map the file with Domain.map, or in a shared arena";
            case Errno.EOPNOTSUPP -> "save: the owner's memory cannot reach this level";
            case Errno.EINVAL -> "save: the bytes are not all inside the owner's region";
            case Errno.EKEYREJECTED -> "save: peers may not write this region";
            case Errno.EIO -> "save: the owner could not write its file, now or since it mapped it: it must close"
                    + " the file's regions, map it anew, and have the bytes written again";
            case Errno.ENOSPC -> "save: the owner already serves " + SaveService.MAX_WRITERS + " writers, the maximum";
            default -> "save" + (save.why.isEmpty() ? "" : ": " + save.why);
        };
        return new CompletionError(save.token, true, SAVED, 0, 0, 0, 0, 0, save.error, 0, text, new byte[0],
                endpoint.info().provider());
    }

    /**
     * Closes the saver. Saves in flight end with {@code ECANCELED} (125): the next {@link #poll} reports them. Flushes
     * in flight are operations of the endpoint, and complete on the queue: poll it through this saver until nothing is
     * in flight.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                try {
                    services.values().stream().distinct().filter(service -> service.isKnown).forEach(this::leave);
                    link.poll(); // sends the last messages, and takes those that have come
                } catch (FabricException e) { // the queue has failed: nobody can be told
                    pending.forEach(save -> fail(save, e.errno(), e.getMessage()));
                }
                closed = true;
                freeNumber(number);
                pending.stream().filter(save -> save.state != State.DONE && save.state != State.SAVED)
                        .forEach(save -> fail(save, Errno.ECANCELED, "the saver was closed"));
                pending.stream().filter(save -> save.state == State.SAVED).forEach(save -> {
                    if (save.data.isEmpty()) {
                        save.state = State.DONE;
                    } else {
                        fail(save, Errno.ECANCELED, "the bytes are durable, and the saver was closed before the peer's"
                                + " queue was told");
                    }
                });
            }
            link.close();
        } finally {
            lock.unlock();
        }
    }

    /** Tells the owner to remove this writer. It does not wait for that. */
    private void leave(Service service) {
        SaveMessage message = link.nextMessage(SaveMessage.LEAVE);
        if (message == null) { return; }
        message.put(Field.WRITER, service.writer).put(Field.SECRET, service.secret);
        try {
            link.send(SaveMessage.LENGTH, service.peer, service);
        } catch (FabricException | IllegalStateException e) {
            return; // the owner has left already
        }
    }

    /** {@return the address that answers are sent to} */
    EndpointAddress address() { return link.endpoint.address(); }

    @Override
    public String toString() { return "Saver of " + endpoint; }
}
