package io.ofi4j.durable;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveMessage.Field;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The owner's side of saves: it makes bytes that peers have written into the regions of a domain durable when their
 * {@link Saver} asks for it. Its messages go over an endpoint of its own, apart from those of the program.
 *
 * <p><b>Progress.</b> The service works in calls of {@link #progress}, or in a thread that {@link #start} starts; a
 * {@link MemoryRegion#force()} may take milliseconds. Polls of the domain's queues do nothing for it. As with any
 * operation, the endpoint that a writer writes to also needs progress.
 *
 * <p><b>Access.</b> A writer needs the {@link Ticket} and the key of a region. No request changes bytes. A writer that
 * does not take its answers, or has gone, does not delay other writers.
 *
 * <p><b>Threads.</b> With {@link ThreadingModel#SAFE} any thread may call the methods, otherwise only the thread that
 * made the service; others get {@link WrongThreadException}. {@link #progress} and {@link #coverReceives} throw
 * IllegalStateException once it is closed.
 */
public final class SaveService implements AutoCloseable {
    /** The largest number of writers at a time. */
    public static final int MAX_WRITERS = 1024;

    /** The largest number of waiting requests of one writer. A {@link Saver} has no more; further ones are dropped. */
    static final int MAX_REQUESTS = Saver.MAX_SAVES;
    /**
     * The time after which a writer that has sent a greeting and no request may be removed, to make room for another
     * one or because no answer reaches it.
     */
    static final Duration GREETING_TIMEOUT = Duration.ofSeconds(10);

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Durability[] LEVELS = Durability.values();
    private static final int LEVEL_MASK = 0xff;
    private static final int FLUSHED_BYTES = 64;
    /** The largest number of regions in the cache by key. */
    private static final int MAX_FOUND = 1024;
    /** The largest number of refused writers whose answer has not been sent yet. */
    private static final int MAX_REFUSED = 16;
    private static final Set<Integer> REQUESTS = Set.of(SaveMessage.REQUEST, SaveMessage.REQUEST_RECEIVED,
            SaveMessage.REQUEST_POLLED);
    private static final long MAX_POLLS = 1 << 16;
    /** The largest number of polls in one call, so that it does not take long. */
    private static final int POLLS_AT_ONCE = 128;
    /** Calls of progress in one round: the steps of a transfer often follow each other at once. */
    private static final int CALLS_PER_ROUND = 4;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    private final Domain domain;
    /** Of nanoseconds, as {@link System#nanoTime}. */
    private final LongSupplier clock;
    private final SaveLink link;
    /** The region that writers name in flushes. */
    private final MemoryRegion flushed;
    private final ReentrantLock lock = new ReentrantLock();
    /** The writers, the oldest first. */
    private final Map<EndpointAddress, Writer> writers = new LinkedHashMap<>();
    private final Map<Long, Writer> numbers = new HashMap<>();
    private final List<Request> requests = new ArrayList<>();
    private final List<Answer> answers = new ArrayList<>();
    private final Map<Long, MemoryRegion> found = new HashMap<>();
    /** The regions into which the program receives. */
    private final List<MemoryRegion> receiveRegions = new CopyOnWriteArrayList<>();
    /** After this number of polls, a provider that handles one message in each has handled all that have come. */
    private final long pollsBehindFlush;
    private long polls;
    private long lastNumber;
    private int refused;
    private volatile Thread thread;
    private volatile boolean stopping;
    private volatile Throwable failure;
    private volatile long answered;
    private volatile boolean closed;

    /**
     * What a writer needs besides the regions, for {@link Saver#saveThrough}. Send it to writers as you send regions.
     *
     * @param address the address of the service
     * @param flushed the region that writers name in flushes
     */
    public record Ticket(EndpointAddress address, RemoteRegion flushed) {
        /** Checks that no component is null. */
        public Ticket {
            Objects.requireNonNull(address, "address");
            Objects.requireNonNull(flushed, "flushed");
        }

        /** {@return the ticket as bytes} */
        public byte[] encode() {
            byte[] encoded = address.encode();
            return ByteBuffer.allocate(RemoteRegion.ENCODED_LENGTH + encoded.length).put(flushed.encode()).put(encoded)
                    .array();
        }

        /**
         * {@return the ticket that {@link #encode} encoded}
         *
         * @throws IllegalArgumentException if the bytes are damaged, or come from another version
         */
        public static Ticket decode(byte[] bytes) {
            if (bytes.length <= RemoteRegion.ENCODED_LENGTH) {
                throw new IllegalArgumentException("these bytes are not an encoded ticket");
            }
            RemoteRegion flushed = RemoteRegion.decode(Arrays.copyOf(bytes, RemoteRegion.ENCODED_LENGTH));
            return new Ticket(
                    EndpointAddress.decode(Arrays.copyOfRange(bytes, RemoteRegion.ENCODED_LENGTH, bytes.length)),
                    flushed);
        }
    }

    private static final class Writer {
        final EndpointAddress address;
        final Peer peer;
        /** The writer's number; below 0 if there are too many writers. */
        final long number;
        final long secret = RANDOM.nextLong();
        final long greeted;
        /** Whether it has sent its secret, which shows that it exists and takes answers. */
        boolean isProven;
        boolean isForgotten;
        /** Whether the provider has no room for a message to it, in this round of answers. */
        boolean isBlocked;
        /** The number of its requests that are not answered yet. */
        int unanswered;
        /** The number of messages to it that have not been sent yet. */
        int inFlight;

        Writer(EndpointAddress address, Peer peer, long number, long greeted) {
            this.address = address;
            this.peer = peer;
            this.number = number;
            this.greeted = greeted;
        }
    }

    private static final class Request {
        final Writer writer;
        final int kind;
        final long id;
        final long key;
        final long address;
        final long length;
        /** The number of the last poll that may still handle messages that were sent before. */
        final long lastPoll;

        Request(Writer writer, int kind, SaveMessage message, long lastPoll) {
            this.writer = writer;
            this.kind = kind;
            this.id = message.get(Field.ID);
            this.key = message.get(Field.KEY);
            this.address = message.get(Field.ADDRESS);
            this.length = message.get(Field.LENGTH);
            this.lastPoll = lastPoll;
        }

        Durability level() { return LEVELS[(int) id & LEVEL_MASK]; }
    }

    private record Answer(Writer writer, int kind, long id, int level, int error) {}

    /**
     * Opens the service of a domain.
     *
     * @param domain a domain with {@link Capability#MSG} and {@link Capability#RMA}; close the service before it
     * @throws UnsupportedOperationException if the domain lacks a capability, or its endpoints are connected
     * @throws FabricException if libfabric reports an error
     */
    public SaveService(Domain domain) { this(domain, System::nanoTime); }

    /** @param clock by which a greeting grows old */
    SaveService(Domain domain, LongSupplier clock) {
        this.clock = clock;
        SaveLink.requireOffered(domain);
        this.domain = domain;
        this.pollsBehindFlush = Math.min(Math.min(domain.info().receive().size(), MAX_POLLS)
                + Math.min(domain.info().transmit().size(), MAX_POLLS), MAX_POLLS);
        this.flushed = domain.allocate(FLUSHED_BYTES, Access.REMOTE_READ, Access.REMOTE_WRITE);
        this.link = new SaveLink(domain, flushed, new SaveLink.Receiver() {
            @Override
            public void received(SaveMessage message, int kind, long length) { take(message, kind, length); }

            @Override
            public void sent(Object about) {
                Writer writer = (Writer) about;
                writer.inFlight--;
                if (writer.number < 0) { forget(writer); }
            }

            @Override
            public void failed(Object about, CompletionError error) { forget((Writer) about); }
        });
    }

    /** {@return the ticket for writers, the same for all of them} */
    public Ticket ticket() {
        return new Ticket(link.endpoint.address(), flushed.remote());
    }

    /**
     * Names a region into which the program posts receives, of messages with tags or without. From now on,
     * {@link Saver#saveMessages} of any writer makes all of this region durable, until the region is closed. It may be
     * called for several regions. Any thread may call it.
     *
     * @param region a region of the same domain with {@link Access#RECEIVE}
     * @throws IllegalArgumentException if the region is of another domain, or lacks the right
     * @throws IllegalStateException if the region or the service is closed
     */
    public void coverReceives(MemoryRegion region) {
        if (!region.isOpen() || closed) { throw new IllegalStateException(region.isOpen() ? closed() : "" + region); }
        if (region.domain() != domain) { throw new IllegalArgumentException("the region belongs to another domain"); }
        if (!region.access().contains(Access.RECEIVE)) {
            throw new IllegalArgumentException("the region is registered for " + region.access()
                    + ", which lacks RECEIVE: messages cannot be received into it");
        }
        if (!receiveRegions.contains(region)) { receiveRegions.add(region); }
    }

    private String closed() { return this + " is closed"; }

    /** {@return the number of saves that were answered, with success or with an error} */
    public long answered() {
        return answered;
    }

    /** {@return the exception that ended the thread of {@link #start}; empty if there is none} */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    /**
     * Handles requests of writers, and writes files where they ask for that. It never waits for a writer.
     *
     * @return whether a message has come; false if another thread is inside this method
     * @throws FabricException if the service's queue fails
     */
    public boolean progress() {
        if (!lock.tryLock()) { return false; }
        try {
            if (closed) { throw new IllegalStateException(closed()); }
            boolean hasReceived = link.poll();
            pollBehindFlushes();
            serve();
            answerAll();
            return hasReceived;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #start(Waiting)}, with a pause of {@link ProgressThread#DEFAULT_PAUSE}. */
    public void start() {
        start(_ -> LockSupport.parkNanos(ProgressThread.DEFAULT_PAUSE.toNanos()));
    }

    /**
     * Starts a daemon thread that calls {@link #progress} and {@link Domain#progress}. A {@link ProgressThread} is not
     * needed beside it. It runs until {@link #close}, or until a {@link #failure}. A queue of the program that fails
     * does not end it: the program's own polls of that queue say so.
     *
     * @param pauses what passes the time between two rounds; its turns begin at 0 again after each round that found a
     *         request
     * @throws IllegalStateException if the threading model is not {@link ThreadingModel#SAFE}, or the thread was
     *         started already
     */
    public synchronized void start(Waiting pauses) {
        Objects.requireNonNull(pauses, "pauses");
        ThreadingModel model = domain.info().domain().threading();
        if (model != ThreadingModel.SAFE) {
            throw new IllegalStateException("a thread of the service needs ThreadingModel.SAFE, but " + domain + " has "
                    + model + ": request SAFE, or call progress()");
        }
        if (thread != null || closed) {
            throw new IllegalStateException(closed ? closed() : this + " has a thread already");
        }
        thread = Thread.ofPlatform().daemon().name("ofi4j-saves").unstarted(() -> run(pauses)); // which may close this
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) { thread = null; }
        }
    }

    private void run(Waiting pauses) {
        try {
            for (int turn = 0; !stopping; turn = turn + 1 & Integer.MAX_VALUE) {
                for (int call = 0; call < CALLS_PER_ROUND; call++) {
                    progressDomain();
                    if (progress()) { turn = 0; }
                }
                pause(pauses, turn);
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private void progressDomain() {
        try {
            domain.progress();
        } catch (FabricException e) { // of one of its queues; the others were served
            return;
        }
    }

    /** Only close ends the thread. An interrupted thread would not pause, and a pause that blocks may throw EINTR. */
    private static void pause(Waiting pauses, int turn) {
        try {
            pauses.pause(turn);
        } catch (FabricException e) {
            if (e.errno() != Errno.EINTR) { throw e; }
        }
        Thread.interrupted();
    }

    private void take(SaveMessage message, int kind, long length) {
        if (kind == SaveMessage.GREETING) {
            handleGreeting(message, length);
            return;
        }
        Writer writer = numbers.get(message.get(Field.WRITER));
        if (writer == null || writer.secret != message.get(Field.SECRET)) { return; } // an unknown writer
        writer.isProven = true;
        if (kind == SaveMessage.LEAVE) {
            forget(writer);
        } else if (REQUESTS.contains(kind) && (message.get(Field.ID) & LEVEL_MASK) < LEVELS.length
                && writer.unanswered < MAX_REQUESTS) {
            writer.unanswered++;
            requests.add(new Request(writer, kind, message,
                    kind == SaveMessage.REQUEST_POLLED ? polls + pollsBehindFlush : 0));
        }
    }

    /**
     * Answers a greeting with a welcome. A writer that sends another greeting keeps its number and secret, so that its
     * earlier requests are not lost.
     */
    private void handleGreeting(SaveMessage message, long length) {
        Writer writer;
        try {
            EndpointAddress address = EndpointAddress.decode(message.address(length));
            writer = writers.get(address);
            if (writer == null) { writer = admit(address); }
        } catch (RuntimeException e) {
            return; // the greeting has no usable address: there is no one to answer
        }
        if (writer != null && writer.unanswered < MAX_REQUESTS) {
            writer.unanswered++;
            answers.add(new Answer(writer, SaveMessage.WELCOME, message.get(Field.ID), 0,
                    writer.number < 0 ? Errno.ENOSPC : 0));
        }
    }

    /** Returns null if there are too many writers, and too many refused ones whose answer has not been sent. */
    private Writer admit(EndpointAddress address) {
        if (writers.size() == MAX_WRITERS) {
            writers.values().stream().filter(this::isLate).findFirst().ifPresent(this::forget);
        }
        boolean hasRoom = writers.size() < MAX_WRITERS;
        if (!hasRoom && refused == MAX_REFUSED) { return null; }
        Writer writer = new Writer(address, link.peers.insert(address), hasRoom ? ++lastNumber : -1, clock.getAsLong());
        if (hasRoom) {
            writers.put(address, writer);
            numbers.put(writer.number, writer);
        } else {
            refused++;
        }
        return writer;
    }

    private boolean isLate(Writer writer) {
        return !writer.isProven && clock.getAsLong() - writer.greeted > GREETING_TIMEOUT.toNanos();
    }

    /** Removes a writer. Its requests and answers are dropped when their turn comes. */
    private void forget(Writer writer) {
        if (writer.isForgotten) { return; }
        writer.isForgotten = true;
        if (writer.number < 0) {
            refused--;
        } else {
            writers.remove(writer.address);
            numbers.remove(writer.number);
        }
        try {
            link.peers.remove(writer.peer);
        } catch (FabricException e) {
            return; // the provider keeps its address, and the other writers are served on
        }
    }

    /**
     * Polls after flushes: a provider may handle messages in polls, one in each, and therefore after a flush that was
     * posted later.
     */
    private void pollBehindFlushes() {
        long last = 0;
        for (Request request : requests) {
            last = Math.max(last, request.lastPoll);
        }
        try {
            for (int poll = 0; poll < POLLS_AT_ONCE && polls < last && domain.progress(); poll++) {
                polls++;
            }
        } catch (WrongThreadException e) { // the queues belong to several threads
            refusePolled(Errno.EPERM);
        } catch (FabricException e) { // of a queue of the program: it will never have handled what has come
            refusePolled(e.errno());
        }
    }

    private void refusePolled(int error) {
        requests.removeIf(request -> {
            boolean isOfPolls = request.kind == SaveMessage.REQUEST_POLLED;
            if (isOfPolls) { answer(request, error); }
            return isOfPolls;
        });
    }

    private void serve() {
        requests.removeIf(request -> {
            boolean isDue = polls >= request.lastPoll && !request.writer.isForgotten;
            if (isDue) { answer(request, save(request)); }
            return isDue || request.writer.isForgotten;
        });
    }

    private void answer(Request request, int error) {
        Durability lowest = request.kind != SaveMessage.REQUEST
                ? receiveRegions.stream().map(SaveService::durability).min(Comparator.naturalOrder())
                        .orElse(Durability.DELIVERED)
                : error == 0 ? durability(found.get(request.key)) : Durability.DELIVERED;
        int written = Math.min(lowest.ordinal(), Durability.PROCESS_SAFE.ordinal()); // nothing has to be done for it
        answers.add(new Answer(request.writer, SaveMessage.ANSWER, request.id,
                Math.max(request.level().ordinal(), written), error));
    }

    private static Durability durability(MemoryRegion region) { return Durability.of(region.kind()); }

    private int save(Request request) {
        return request.kind == SaveMessage.REQUEST ? saveRegion(request) : saveReceived(request.level());
    }

    private int saveReceived(Durability level) {
        receiveRegions.removeIf(region -> !region.isOpen());
        if (receiveRegions.isEmpty()) { return Errno.ENOKEY; }
        if (!receiveRegions.stream().allMatch(region -> durability(region).meets(level))) { return Errno.EOPNOTSUPP; }
        if (level != Durability.POWER_SAFE) { return 0; }
        return receiveRegions.stream().mapToInt(region -> written(region::force)).filter(error -> error != 0)
                .findFirst().orElse(0);
    }

    private int saveRegion(Request request) {
        MemoryRegion known = found.get(request.key);
        MemoryRegion region = known != null && known.isOpen() ? known : domain.region(request.key).orElse(null);
        if (region == null) { return Errno.ENOKEY; }
        if (found.size() == MAX_FOUND) { found.clear(); } // some of them are closed
        found.put(request.key, region);
        long offset = request.address - region.remote().base();
        if (offset < 0 || request.length < 0 || offset > region.length() - request.length) { return Errno.EINVAL; }
        if (!region.access().contains(Access.REMOTE_WRITE)) { return Errno.EKEYREJECTED; }
        if (!durability(region).meets(request.level())) { return Errno.EOPNOTSUPP; }
        return request.level() != Durability.POWER_SAFE ? 0 : written(() -> region.force(offset, request.length));
    }

    /** {@return the error number of a write to a file, or 0} */
    private static int written(Runnable force) {
        try {
            force.run();
            return 0;
        } catch (UncheckedIOException e) {
            return Errno.EIO;
        } catch (IllegalStateException e) { // the region was closed meanwhile
            return Errno.ENOKEY;
        } catch (WrongThreadException e) { // memory that is confined to another thread
            return Errno.EACCES;
        }
    }

    /**
     * Sends the answers for which there is room. Those of one writer go out in order, independent of those of other
     * writers.
     */
    private void answerAll() {
        for (Answer answer : answers) {
            answer.writer.isBlocked = false;
        }
        answers.removeIf(answer -> answer.writer.isForgotten || !answer.writer.isBlocked && isSent(answer));
    }

    /** Whether an answer was sent, or can never be sent. */
    private boolean isSent(Answer answer) {
        Writer writer = answer.writer;
        // The writer of a welcome may not exist. Some providers keep such a message for minutes: leave room for others.
        boolean takesNoPlace = !writer.isProven && link.isHalfFull();
        boolean hasNoRoom = writer.inFlight >= link.share() || takesNoPlace && writer.number < 0;
        SaveMessage message = hasNoRoom ? null : link.nextMessage(answer.kind);
        try {
            if (message != null) {
                message.put(Field.ID, answer.id).put(Field.STATUS, answer.error).put(Field.WRITER, writer.number)
                        .put(Field.SECRET, writer.secret).put(Field.KEY, answer.level);
                if (takesNoPlace
                        ? link.inject(SaveMessage.LENGTH, writer.peer)
                        : link.send(SaveMessage.LENGTH, writer.peer, writer)) {
                    writer.unanswered--;
                    if (!takesNoPlace) { writer.inFlight++; }
                    if (answer.kind == SaveMessage.ANSWER) { answered++; }
                    return true;
                }
            }
        } catch (FabricException | IllegalStateException e) { // the writer has gone
            forget(writer);
            return true;
        }
        writer.isBlocked = true;
        if (!isLate(writer)) { return false; }
        forget(writer); // no writer was ever there
        return true;
    }

    /**
     * Ends the service and its thread. Saves that were not answered stay in flight at their writers until these close
     * their {@link Saver}. Called by the thread's own pause, it does not wait: the thread ends after the pause.
     *
     * @throws FabricTimeoutException if the thread is still writing a file after 30 seconds; call it again
     */
    @Override
    public void close() {
        if (Thread.currentThread() == thread) { // without the monitor: another thread may hold it and wait for this one
            stopping = true;
            closeLink();
            return;
        }
        synchronized (this) {
            stop();
            closeLink();
        }
    }

    private void closeLink() {
        lock.lock();
        try {
            link.close();
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private void stop() {
        if (thread == null) { return; }
        stopping = true;
        boolean isInterrupted = false;
        long start = System.nanoTime();
        while (thread.isAlive()) {
            LockSupport.unpark(thread);
            try {
                if (!thread.join(STOP_TIMEOUT.minusNanos(System.nanoTime() - start))) {
                    throw new FabricTimeoutException("waiting for the thread of " + this + " to end", STOP_TIMEOUT,
                            "The thread still writes a file, or hangs in a call into the provider.");
                }
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) { Thread.currentThread().interrupt(); }
    }

    @Override
    public String toString() { return "SaveService of " + domain; }
}
