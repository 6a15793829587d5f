package io.ofi4j;

import io.ofi4j.info.Durability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.engine.SaveMessage;
import io.ofi4j.internal.engine.SaveMessage.Field;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Makes durable what peers have written into the regions of a domain, when they ask for it with {@link Rma#save},
 * {@link Atomics#save} or {@link Messages#save}. Opened by {@link Domain#openSaveService} on the owner's side. Its messages go over an
 * endpoint of its own, so that they share nothing with those of the program.
 *
 * <p><b>Who does the work.</b> Polls of the domain's queues do: {@link CompletionQueue#poll}, {@link CompletionQueue#await},
 * {@link CompletionQueue#progress}, and a {@link ProgressThread}, which suits it best, because {@link MemoryRegion#force()} may
 * take milliseconds. Who waits in {@link CompletionQueue#await} polls with pauses while a service is open.
 *
 * <p><b>Who may ask.</b> Whoever has the {@link Ticket} and the key of a region. Nothing can be asked for that changes bytes.
 */
public final class SaveService implements AutoCloseable {
    /** The most writers that have asked. */
    public static final int MOST_WRITERS = 1024;

    private static final SecureRandom RANDOM = new SecureRandom();
    /** A cache line, so that writers do not disturb each other. */
    static final long FENCE_BYTES = 64;
    private static final Durability[] LEVELS = Durability.values();
    private static final int LEVEL_MASK = 0xff;
    /** Regions whose keys need no search. */
    private static final int MOST_FOUND = 1024;
    private static final Set<Integer> REQUESTS = Set.of(SaveMessage.REQUEST, SaveMessage.REQUEST_POLLED,
            SaveMessage.REQUEST_RECEIVED);
    private static final long MOST_POLLS = 1 << 16;
    /** So that one poll of the program does not take long. */
    private static final int POLLS_AT_ONCE = 128;

    private final Domain domain;
    private final SaveLink link;
    /** For each writer the number of its last fence, which the writer writes. */
    private final MemoryRegion fences;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<EndpointAddress, Writer> writers = new HashMap<>();
    private final List<Writer> numbers = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();
    private final Queue<Answer> answers = new ArrayDeque<>();
    private final Map<Long, MemoryRegion> found = new HashMap<>();
    /** Where the program receives. */
    private final List<MemoryRegion> inboxes = new CopyOnWriteArrayList<>();
    /** In so many polls the provider has handled all that has come, be it one thing in each; 0 where fences come behind that. */
    private final long pollsBehindFence;
    private long polls;
    private final Runnable chore = this::run;
    private volatile Throwable failure;
    private volatile long answered;
    private volatile boolean closed;

    /**
     * What a writer needs beside the regions, for {@link Rma#saveThrough}. Send it as you send regions.
     *
     * @param address of the service
     * @param fences where writers announce that their writes have arrived
     */
    public record Ticket(EndpointAddress address, RemoteRegion fences) {
        /** Refuses null. */
        public Ticket {
            Objects.requireNonNull(address, "address");
            Objects.requireNonNull(fences, "fences");
        }

        /** {@return the ticket as bytes} */
        public byte[] encode() {
            byte[] encoded = address.encode();
            return ByteBuffer.allocate(RemoteRegion.ENCODED_LENGTH + encoded.length).put(fences.encode()).put(encoded)
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
            RemoteRegion fences = RemoteRegion.decode(Arrays.copyOf(bytes, RemoteRegion.ENCODED_LENGTH));
            return new Ticket(
                    EndpointAddress.decode(Arrays.copyOfRange(bytes, RemoteRegion.ENCODED_LENGTH, bytes.length)),
                    fences);
        }
    }

    private record Writer(EndpointAddress address, Peer peer, int number, long secret) {}

    /** Of a writer. */
    private static final class Request {
        final Writer writer;
        final int kind;
        final long id;
        final long fence;
        final long key;
        final long address;
        final long length;
        /** The number of polls after which nothing is left that had come before the fence; below 0 where that has not come. */
        long lastPoll = -1;

        Request(Writer writer, int kind, SaveMessage message) {
            this.writer = writer;
            this.kind = kind;
            this.id = message.get(Field.ID);
            this.fence = message.get(Field.FENCE);
            this.key = message.get(Field.KEY);
            this.address = message.get(Field.ADDRESS);
            this.length = message.get(Field.LENGTH);
        }

        Durability level() { return LEVELS[(int) id & LEVEL_MASK]; }
    }

    private record Answer(Writer writer, int kind, long id, int level, int error) {}

    SaveService(Domain domain) {
        SaveLink.requireOffered(domain);
        this.domain = domain;
        this.pollsBehindFence = domain.quirks.has(Fact.WRITES_FOLLOW_MESSAGES)
                ? 0
                : Math.min(domain.info().receive().size() + domain.info().transmit().size(), MOST_POLLS);
        this.fences = domain.allocate(MOST_WRITERS * FENCE_BYTES, Access.REMOTE_WRITE);
        this.link = new SaveLink(domain, fences, new SaveLink.Receiver() {
            @Override
            public void received(SaveMessage message, int kind, long length) { take(message, kind, length); }

            @Override
            public void failed(Object about, CompletionError error) { forget((Writer) about); }
        });
        domain.closingRegions.add(chore);
        domain.queues.all().forEach(CompletionQueue::doChores);
    }

    /** {@return what writers need; the same for all of them} */
    public Ticket ticket() {
        return new Ticket(link.endpoint.address(), fences.remote());
    }

    /**
     * Names a region into which the program posts receives, of messages with tags or without: {@link Messages#save} of any writer makes
     * all of it durable from now on, until it is closed. May be called for several. Any thread may call it.
     *
     * @param region of the same domain, for {@link Access#RECEIVE}
     * @throws IllegalArgumentException if it is another domain's, or lacks the right
     * @throws IllegalStateException if it or the service is closed
     */
    public void coverReceives(MemoryRegion region) {
        if (region.domain != domain) { throw new IllegalArgumentException("the region belongs to another domain"); }
        if ((region.accessBits & Access.RECEIVE.bit()) == 0) {
            throw new IllegalArgumentException("the region is registered for " + region.access()
                    + ", which lacks RECEIVE: no message comes into it");
        }
        if (!region.isOpen() || closed) { throw new IllegalStateException((closed ? this : region) + " is closed"); }
        if (!inboxes.contains(region)) { inboxes.add(region); }
    }

    /** {@return the number of saves that were answered, well or not} */
    public long answered() { return answered; }

    /** {@return the exception that ended the service, such as a {@link FabricException} of its queue; empty if there is none} */
    public Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    private void run() {
        if (failure != null || !link.admitsCaller() || lock.isHeldByCurrentThread() || !lock.tryLock()) { return; }
        try {
            if (closed) { return; }
            link.poll();
            pollBehindFences();
            serve();
        } catch (RuntimeException e) {
            failure = e;
        } finally {
            lock.unlock();
        }
    }

    private void take(SaveMessage message, int kind, long length) {
        if (kind == SaveMessage.GREETING) {
            welcome(message, length);
            return;
        }
        long number = message.get(Field.WRITER);
        Writer writer = number >= 0 && number < numbers.size() ? numbers.get((int) number) : null;
        if (writer == null || writer.secret != message.get(Field.SECRET)) { return; } // nobody that is known here
        if (kind == SaveMessage.LEAVE) {
            forget(writer);
        } else if (REQUESTS.contains(kind) && (message.get(Field.ID) & LEVEL_MASK) < LEVELS.length) {
            requests.add(new Request(writer, kind, message));
        }
    }

    /** A writer that greets again, as after a restart, gets a new secret. */
    private void welcome(SaveMessage message, long length) {
        Writer writer;
        try {
            EndpointAddress address = EndpointAddress.decode(message.address(length));
            Writer before = writers.get(address);
            int number = before != null ? before.number : freeNumber();
            Peer peer = before != null ? before.peer : link.peers.insert(address);
            writer = new Writer(address, peer, number, RANDOM.nextLong());
        } catch (RuntimeException e) {
            return; // whatever it was that greeted: there is nobody to be answered
        }
        if (writer.number < MOST_WRITERS) {
            if (writer.number == numbers.size()) { numbers.add(null); }
            numbers.set(writer.number, writer);
            fences.setLongRelease(writer.number * FENCE_BYTES, 0);
            writers.put(writer.address, writer);
        }
        answers.add(new Answer(writer, SaveMessage.WELCOME, message.get(Field.ID), 0,
                writer.number < MOST_WRITERS ? 0 : Errno.ENOSPC));
    }

    /** One that was never used, as long as there are any. */
    private int freeNumber() {
        int free = numbers.size() < MOST_WRITERS ? -1 : numbers.indexOf(null);
        return free < 0 ? numbers.size() : free;
    }

    private void forget(Writer writer) {
        if (writers.remove(writer.address, writer)) {
            numbers.set(writer.number, null);
            link.peers.remove(writer.peer);
        }
        requests.removeIf(one -> one.writer == writer);
        answers.removeIf(one -> one.writer == writer);
    }

    /** A provider may handle messages in polls, one in each, behind the fence that came after them. */
    private void pollBehindFences() {
        long last = 0;
        for (Request request : requests) {
            last = Math.max(last, request.lastPoll);
        }
        for (int poll = 0; poll < POLLS_AT_ONCE && polls < last && !domain.queues.isAnyFull(); poll++) {
            domain.queues.progress();
            polls++;
        }
    }

    private void serve() {
        for (Iterator<Request> all = requests.iterator(); all.hasNext();) {
            Request request = all.next();
            boolean isOfPolls = request.kind != SaveMessage.REQUEST && pollsBehindFence > 0;
            if (isOfPolls && !domain.queues.admitCaller()) {
                answer(request, Errno.EPERM);
                all.remove();
            } else if (hasArrived(request, isOfPolls)) { // and all that was in front of it
                answer(request, save(request));
                all.remove();
            }
        }
        while (!answers.isEmpty() && send(answers.peek())) {
            answers.poll();
        }
    }

    private boolean hasArrived(Request request, boolean isOfPolls) {
        if (fences.getLongAcquire(request.writer.number * FENCE_BYTES) < request.fence) { return false; }
        if (isOfPolls && request.lastPoll < 0) { request.lastPoll = polls + pollsBehindFence; }
        return polls >= request.lastPoll;
    }

    private void answer(Request request, int error) {
        Durability least = request.kind == SaveMessage.REQUEST_RECEIVED
                ? inboxes.stream().map(SaveService::lasts).min(Comparator.naturalOrder()).orElse(Durability.DELIVERED)
                : error == 0 ? lasts(found.get(request.key)) : Durability.DELIVERED;
        int written = Math.min(least.ordinal(), Durability.PROCESS_SAFE.ordinal()); // without anybody's doing
        answers.add(new Answer(request.writer, SaveMessage.ANSWER, request.id,
                Math.max(request.level().ordinal(), written), error));
    }

    private static Durability lasts(MemoryRegion region) { return Durability.of(region.kind()); }

    private int save(Request request) {
        return request.kind == SaveMessage.REQUEST_RECEIVED ? saveReceived(request.level()) : saveRegion(request);
    }

    private int saveReceived(Durability level) {
        inboxes.removeIf(region -> !region.isOpen());
        if (inboxes.isEmpty()) { return Errno.ENOKEY; }
        if (!inboxes.stream().allMatch(region -> lasts(region).meets(level))) { return Errno.EOPNOTSUPP; }
        if (level != Durability.POWER_SAFE) { return 0; }
        return inboxes.stream().mapToInt(region -> written(region::force)).filter(error -> error != 0).findFirst()
                .orElse(0);
    }

    private int saveRegion(Request request) {
        MemoryRegion known = found.get(request.key);
        MemoryRegion region = known != null && known.isOpen()
                ? known
                : domain.children.find(MemoryRegion.class, one -> one.isFor(request.key));
        if (region == null) { return Errno.ENOKEY; }
        if (found.size() == MOST_FOUND) { found.clear(); } // closed ones are among them
        found.put(request.key, region);
        long offset = request.address - region.remote().base();
        if (offset < 0 || request.length < 0 || offset > region.length() - request.length) { return Errno.EINVAL; }
        if ((region.accessBits & Access.REMOTE_WRITE.bit()) == 0) { return Errno.EKEYREJECTED; }
        if (!lasts(region).meets(request.level())) { return Errno.EOPNOTSUPP; }
        return request.level() != Durability.POWER_SAFE || request.length == 0
                ? 0
                : written(() -> region.force(offset, request.length));
    }

    /** The number of the error of a write to a file. */
    private static int written(Runnable force) {
        try {
            force.run();
            return 0;
        } catch (IllegalStateException e) { // it was closed meanwhile
            return Errno.ENOKEY;
        } catch (RuntimeException e) { // UncheckedIOException, or the memory is confined to another thread
            return Errno.EIO;
        }
    }

    private boolean send(Answer answer) {
        SaveMessage message = link.next(answer.kind);
        if (message == null) { return false; }
        message.put(Field.ID, answer.id).put(Field.FENCE, answer.error).put(Field.WRITER, answer.writer.number)
                .put(Field.SECRET, answer.writer.secret).put(Field.KEY, answer.level);
        try {
            if (!link.send(SaveMessage.LENGTH, answer.writer.peer, answer.writer)) { return false; }
        } catch (FabricException | IllegalStateException e) { // the writer is gone
            writers.remove(answer.writer.address, answer.writer);
        }
        if (answer.kind == SaveMessage.ANSWER) { answered++; }
        return true;
    }

    /**
     * Ends the service. Saves that were not answered stay in flight at their writers, until those close their endpoints. Throws
     * WrongThreadException where the domain's threading model gives it to another thread.
     */
    @Override
    public void close() {
        domain.checkThread();
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        domain.closingRegions.remove(chore);
        link.close();
        domain.forget(this);
    }

    @Override
    public String toString() { return "SaveService of " + domain; }
}
