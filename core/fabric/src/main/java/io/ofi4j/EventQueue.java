package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.FabricLock;
import io.ofi4j.internal.engine.LifeCycle;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.WaitDescriptor;
import io.ofi4j.internal.ffi.EqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.ffi.TryWait;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Reports events of connections (requested, established, failed, ended) and of the application itself; fi_eq(3). Opened
 * by {@link Fabric#openEventQueue()}. A program binds it to connected and passive endpoints.
 *
 * <p>With most providers, connections are established only while both sides read their event queues. Some providers
 * notice that a peer has gone only while the endpoint's completion queue is polled.
 *
 * <p>Any thread may call it, and several may share it. An event of an endpoint that {@link ThreadingModel#DOMAIN} or
 * {@link ThreadingModel#COMPLETION} gives to one thread is for that thread alone: reads of others buffer it, and wake
 * those that wait. It keeps the wait descriptor readable, for an event loop of its owner's own, until its owner has
 * read it. All other events, such as requests for connections, go to the thread that reads first; a request that one
 * loop has read can be accepted by another.
 *
 * <p>A read makes progress on the connections of all endpoints that are bound, and changes their
 * {@link Connection#state}. With some providers, which {@code core/guide/CONNECTIONS.md} names, it may complete their
 * operations without a lock: only a thread that owns all of them may read there, and others get
 * {@link WrongThreadException}. Loops of a program for these have an event queue each. Except for accessors, every
 * method throws {@link IllegalStateException} once the queue is closed, and {@link FabricException} if the queue itself
 * fails.
 */
public final class EventQueue implements Waitable, AutoCloseable {
    private static final long MAX_PAUSE_NANOS = 1_000_000;
    /** Between reads without a descriptor. Each takes the fabric's lock, and so none spins. */
    private static final Backoff PAUSES = new Backoff(0, 0, 20_000, MAX_PAUSE_NANOS);

    final Fabric fabric;

    private final Handle handle;
    private final EventQueueAttributes attributes;
    /** The fabric's lock: held in every native call, and while the fields here are used. */
    private final FabricLock lock;
    private final EventReader reader;
    private final Deque<Event> buffered = new ArrayDeque<>();
    private final BooleanSupplier hasEvent = () -> next(false) != null;
    private final Consumer<Event> toBuffer = this::add;
    private final BlockingWait<BooleanSupplier> blocking;
    private final TryWait tryWait;
    private final OpenChildren children = new OpenChildren();
    /** Why the last {@link #drainQuietly} has ended early, for the next reader; otherwise null. */
    private FabricException unreported;
    private boolean hasRetired;
    private final LifeCycle lifeCycle = new LifeCycle();

    private EventQueue(Fabric fabric, Handle handle, EventQueueAttributes attributes, WaitDescriptor descriptor) {
        this.fabric = fabric;
        this.handle = handle;
        this.attributes = attributes;
        this.lock = fabric.lock;
        this.reader = new EventReader(handle);
        this.blocking = new BlockingWait<>(descriptor, "reading events", new Reads(), PAUSES);
        this.tryWait = new TryWait(fabric.handle(), handle, Arena.ofAuto());
    }

    static EventQueue open(Fabric fabric, Handle fabricHandle, EventQueueAttributes attributes) {
        OpenResult out = fabric.lock.locked(() -> FabricOps.fi_eq_open(fabricHandle, attributes.size().orElse(0),
                attributes.isWritable() ? FabricConstants.FI_WRITE : 0, attributes.waitObject().value()));
        boolean isAnotherFault = out.status() == -Errno.EINVAL && attributes.waitObject() != WaitObject.YIELD;
        if (!isAnotherFault) {
            WaitDescriptor.requireOffered(out.status(), "an event queue", attributes.waitObject(),
                    fabricHandle.provider());
        }
        Status.check(out.status(), "fi_eq_open", fabricHandle.provider());
        return out.adopt(opened -> new EventQueue(fabric, opened, attributes, descriptor(opened, attributes)),
                FidOps::fi_close);
    }

    /** The descriptor that was asked for, or null. */
    private static WaitDescriptor descriptor(Handle opened, EventQueueAttributes attributes) {
        return attributes.waitObject() == WaitObject.FD
                ? WaitDescriptor.open(opened, "an event queue", WaitObject.FD)
                : null;
    }

    Handle handle() { return handle; }

    /** {@return the attributes that this queue was opened with} */
    public EventQueueAttributes attributes() {
        return attributes;
    }

    /** {@return the next event, if there is one; fi_eq_read and fi_eq_readerr, fi_eq(3)} It never waits. */
    public Optional<Event> read() {
        StackRoom.require(); // before an event is removed
        return lock.locked(() -> {
            progressUntil(hasEvent);
            return Optional.ofNullable(next(true));
        });
    }

    /**
     * {@return the next event, if there is one, which stays for the next {@link #read()}; fi_eq_read with FI_PEEK} It
     * never waits.
     */
    public Optional<Event> peek() {
        return lock.locked(() -> {
            progressUntil(hasEvent);
            return Optional.ofNullable(next(false));
        });
    }

    /**
     * As {@link #read()}, but waits for an event, until one comes, the deadline passes, or {@link #signal} is called. A
     * queue that was opened with {@link WaitObject#FD} blocks on its descriptor, and reads again every 100 ms; while
     * another event queue of the fabric has no thread that waits for it, every millisecond, because connections may
     * need progress on both. Other queues, and virtual threads, read again and again, and sleep between reads, a
     * millisecond at most. The wait itself allocates nothing. It does not call fi_eq_sread, which would block the
     * fabric's other connections for the whole wait.
     *
     * @param deadline the longest time to wait; nanoseconds count
     * @return the event; empty after the deadline or a signal
     * @throws FabricException if the queue itself fails, or the thread is interrupted: errno {@code EINTR} (4), with
     *         the interrupt status still set
     */
    public Optional<Event> await(Duration deadline) {
        StackRoom.require(); // before an event is removed
        long start = System.nanoTime();
        Duration left = deadline;
        while (true) {
            boolean found = blocking.until(hasEvent, 0, left, Duration.ZERO) > 0;
            Optional<Event> event = found ? takeBuffered() : Optional.empty();
            if (!found || event.isPresent()) { return event; }
            left = Duration.ofNanos(Deadlines.nanos(deadline) - (System.nanoTime() - start)); // another thread took it
        }
    }

    private Optional<Event> takeBuffered() { return lock.locked(() -> Optional.ofNullable(next(true))); }

    /** The first event for the calling thread, which is removed if wanted, or null; inside the lock. */
    private Event next(boolean removes) {
        Event first = buffered.peek();
        if (first == null || isForCaller(first)) { return removes ? buffered.poll() : first; }
        for (Iterator<Event> events = buffered.iterator(); events.hasNext();) {
            Event event = events.next();
            if (isForCaller(event)) {
                if (removes) { events.remove(); }
                return event;
            }
        }
        return null;
    }

    /** Whether no other thread owns the endpoint of an event. */
    private static boolean isForCaller(Event event) {
        Endpoint endpoint = endpoint(event);
        return endpoint == null || endpoint.bindings.admitsCaller();
    }

    /** The active endpoint that an event is about, or null. */
    private static Endpoint endpoint(Event event) {
        return switch (event) {
            case Event.Connected connected -> connected.endpoint();
            case Event.ShutDown shutDown -> shutDown.endpoint();
            case Event.Failed failed -> failed.error().endpoint().orElse(null);
            default -> null;
        };
    }

    /**
     * As {@link #await}, but a signal does not end it: then the next {@code await} returns at once.
     *
     * @param deadline the longest time to wait
     * @throws FabricTimeoutException if there is no event in that time
     * @throws FabricException as {@link #await} throws it
     */
    public Event read(Duration deadline) {
        StackRoom.require(); // before an event is removed
        Event[] next = new Event[1];
        if (!awaitUntil(() -> (next[0] = next(true)) != null, deadline)) {
            throw new FabricTimeoutException("reading an event", deadline, "No event came.");
        }
        return next[0];
    }

    /**
     * Wakes all threads in {@link #await}, whether they block or sleep between reads; if none waits, the next call of
     * it returns at once. An application's own event loop wakes too: the wait descriptor becomes readable, or, if no
     * thread waits, the next {@link #tryWait} returns false. Any thread may call this.
     */
    public void signal() {
        requireOpen();
        blocking.signal();
    }

    /** Makes progress on connections, and buffers events for the next {@link #read()}. */
    public void progress() {
        lock.locked(this::readNext);
    }

    /** Makes progress, unless this queue is closed, or endpoints of it are another thread's, which makes progress. */
    void tryProgress() {
        lock.lock();
        try {
            if (lifeCycle.isOpen() && reader.isForCaller()) { readNext(); }
        } catch (WrongThreadException e) {
            return; // another thread has bound an endpoint and its queue meanwhile, and makes progress
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds an event of the application, which is read as {@link Event.Notification}; fi_eq_write, fi_eq(3).
     *
     * @param context any number
     * @param data any number
     * @throws UnsupportedOperationException if this queue was not opened as {@link EventQueueAttributes#writable()}, or
     *         the provider does not offer it
     */
    public void write(long context, long data) {
        lock.locked(() -> {
            requireOpen();
            if (!attributes.isWritable()) {
                throw new UnsupportedOperationException(
                        this + " was not opened for writing: open it with EventQueueAttributes.writable()");
            }
            Status.check(reader.write(context, data), "fi_eq_write", handle.provider());
            blocking.wake(); // who sleeps between reads
        });
    }

    /**
     * {@return the file descriptor that is readable when there may be an event; fi_control with FI_GETWAIT, fi_eq(3)}
     * It is for an application's own epoll or poll. Call {@link #tryWait} before each wait. The queue owns the
     * descriptor.
     *
     * @throws IllegalStateException if this queue was not opened with {@link WaitObject#FD}
     */
    @Override
    public int waitDescriptor() {
        requireDescriptor();
        return blocking.requireDescriptor(this).number;
    }

    /**
     * {@return whether a thread may block on the wait descriptor now; fi_trywait, fi_poll(3)} If not, read this queue
     * first.
     *
     * @throws IllegalStateException if this queue was not opened with {@link WaitObject#FD}
     */
    @Override
    public boolean tryWait() {
        lock.lock();
        try {
            requireDescriptor();
            return !blocking.takeSignal() && next(false) == null && isQuiet();
        } finally {
            lock.unlock();
        }
    }

    private void requireDescriptor() {
        requireOpen();
        if (attributes.waitObject() != WaitObject.FD) {
            throw new IllegalStateException(
                    this + " has wait object " + attributes.waitObject() + ": open it with WaitObject.FD");
        }
    }

    /**
     * Whether there is nothing to read, so that the next event, or the next millisecond, makes the descriptor readable.
     * Inside the lock.
     */
    private boolean isQuiet() {
        WaitDescriptor descriptor = blocking.requireDescriptor(this);
        if (buffered.isEmpty()) { descriptor.reset(); } // else the owner of an event may miss it
        return mayWait(descriptor) && !readNext(); // fi_trywait of some providers does not read their queue
    }

    /**
     * Without fi_trywait the provider's descriptor stays readable after the first event: it is left out from then on.
     */
    private boolean mayWait(WaitDescriptor descriptor) {
        if (descriptor.isDetached()) { return true; }
        int status = tryWait.fi_trywait();
        if (status == -Errno.ENOSYS) { descriptor.detachProvider(); }
        return status == 0;
    }

    /** What {@link #await} waits for. */
    private final class Reads implements BlockingWait.Source<BooleanSupplier> {
        @Override
        public int take(BooleanSupplier condition, long none, long begun) {
            if (progressUntil(condition)) { return 1; }
            fabric.progressOthers(EventQueue.this);
            return 0;
        }

        /**
         * Not where the descriptor stays readable though there is no event for this thread: such threads sleep.
         */
        @Override
        public boolean mayBlock() {
            if (!blocking.hasDescriptor()) { return false; }
            lock.lock();
            try {
                requireOpen();
                WaitDescriptor descriptor = blocking.requireDescriptor(EventQueue.this);
                boolean quiet = isQuiet() && buffered.isEmpty()
                        && (descriptor.isDetached() || !descriptor.isProviderReady());
                if (quiet) { blocking.beginBlocking(); }
                return quiet;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void block(Blocker blocker, long none, long nanos) {
            long longest = fabric.hasUnattended(EventQueue.this) ? Math.min(nanos, MAX_PAUSE_NANOS) : nanos;
            blocker.block(longest, blocking.requireDescriptor(EventQueue.this).number);
        }
    }

    /** Whether the calling thread makes progress on this queue beside its own: nobody waits for it, who would do so. */
    boolean needsCaller() {
        return !blocking.hasWaiters() && reader.isForCaller();
    }

    /**
     * Reads and buffers events until a condition holds, which they change. Returns whether it held in time. The
     * condition is checked inside the lock. A signal that comes meanwhile is left for the next {@link #await}.
     */
    boolean awaitUntil(BooleanSupplier condition, Duration deadline) {
        long start = System.nanoTime();
        Duration left = deadline;
        boolean wasSignaled = false;
        try {
            while (true) {
                if (blocking.until(condition, 0, left, Duration.ZERO) > 0) { return true; }
                long nanos = Deadlines.nanos(deadline) - (System.nanoTime() - start);
                if (nanos <= 0) { return false; }
                wasSignaled = true;
                left = Duration.ofNanos(nanos);
            }
        } finally {
            if (wasSignaled) { blocking.signal(); }
        }
    }

    /** Reads and buffers events until the condition holds or there are no more. Returns whether it holds. */
    private boolean progressUntil(BooleanSupplier condition) {
        lock.lock();
        try {
            requireOpen();
            while (!condition.getAsBoolean()) {
                if (!readNext()) { return false; }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Reads one event and buffers it, inside the lock. Returns whether there was one. */
    private boolean readNext() {
        requireOpen();
        StackRoom.require(); // before an event is read
        if (unreported != null) {
            FabricException failed = unreported;
            unreported = null;
            throw failed;
        }
        return reader.read(toBuffer);
    }

    /** Buffers an event, and wakes those who wait: it may be what another thread waits for. */
    private void add(Event event) {
        buffered.add(event);
        blocking.wake();
    }

    /** Adds an event that the provider does not report, unless a close of its endpoint has begun. */
    void buffer(Event event) {
        lock.locked(() -> {
            if (!endpoint(event).isClosed()) { add(event); }
        });
    }

    /** Removes the unread events of an endpoint that is closed: its owner may read no more. Who waits looks again. */
    void forget(Endpoint endpoint) {
        discard(event -> endpoint(event) == endpoint);
        if (blocking.hasWaiters()) { blocking.wake(); }
    }

    /** Removes buffered events whose outcome the caller knows already. */
    void discard(Predicate<Event> which) {
        lock.locked(() -> buffered.removeIf(which));
    }

    /** Adds an endpoint, active or passive, which records the queue in the same step. */
    void bind(Object endpoint, Handle object, Runnable onBound) {
        lock.locked(() -> {
            requireOpen();
            children.add(endpoint);
            reader.add(endpoint, object);
            onBound.run();
        });
    }

    /**
     * Closes an endpoint natively while no thread reads, and then removes it and its unread events: a new endpoint may
     * get the same native address at once. A retired endpoint stays, so that late requests find it.
     */
    int closing(Object endpoint, Handle object, boolean retires, IntSupplier close) {
        return lock.locked(() -> {
            int status = close.getAsInt(); // may throw: then nothing has changed
            hasRetired |= retires;
            children.remove(endpoint);
            if (!retires) {
                reader.remove(endpoint, object);
                buffered.removeIf(event -> endpoint(event) == endpoint);
                if (lifeCycle.isOpen()) { drainQuietly(); }
            }
            return status;
        });
    }

    /** Reads everything there is. The caller must go on: an error of the queue is the next reader's. */
    void drainQuietly() {
        try {
            progressUntil(() -> false);
        } catch (WrongThreadException e) {
            return; // the owner reads them
        } catch (FabricException e) {
            unreported = e;
        }
    }

    /** Whether endpoints that are bound to it are open. */
    boolean isBound() { return !children.isEmpty(); }

    private void requireOpen() { lifeCycle.requireOpen(this); }

    /**
     * Closes the queue; fi_close, fi_eq(3). Unread events are discarded. Waits of other threads end with
     * IllegalStateException. If endpoints bound to it are open, it throws {@link IllegalStateException}, which names
     * them, and stays open. After FabricException it is closed.
     *
     * <p>A queue that had a listener of {@code tcp} or {@code net} keeps its descriptors until the fabric is closed:
     * use one queue for all listeners.
     */
    @Override
    public void close() {
        StackRoom.require();
        if (!lock.locked(this::beginClose)) { return; }
        int closeStatus = lifeCycle.finish(() -> {
            blocking.drain();
            int status = lock.locked(this::closeNatively);
            fabric.forget(this);
            return status;
        });
        Status.check(closeStatus, "fi_close(event queue)", handle.provider());
    }

    /** Returns whether there is something to close. */
    private boolean beginClose() {
        if (!lifeCycle.mayClose()) { return false; }
        children.requireNone(this);
        if (lifeCycle.isOpen()) { drainQuietly(); } // frees the infos of unread requests
        lifeCycle.begin();
        buffered.clear();
        blocking.wake();
        return true;
    }

    private int closeNatively() {
        if (!lifeCycle.beginNativeClose()) { return 0; }
        blocking.close();
        if (!hasRetired) { return FidOps.fi_close(handle); }
        fabric.retired.addLast(handle);
        return 0;
    }

    @Override
    public String toString() { return "EventQueue of " + handle.provider(); }

    /**
     * Converts native events to {@link Event}s and updates the connections concerned. Used inside the fabric's lock.
     */
    private static final class EventReader {
        private final EqOps ops;
        private final String provider;
        /** The endpoints, active and passive, by their native addresses. */
        private final Map<Long, Object> bound = new HashMap<>();
        /** The active ones of them. */
        private volatile Endpoint[] endpoints = {};

        EventReader(Handle queue) {
            this.ops = new EqOps(queue);
            this.provider = queue.provider();
        }

        void add(Object endpoint, Handle object) {
            bound.put(object.address(), endpoint);
            listEndpoints();
        }

        private void listEndpoints() {
            endpoints = bound.values().stream().filter(Endpoint.class::isInstance).toArray(Endpoint[]::new);
        }

        /** Removes an endpoint, unless a new one has the same native address by now. */
        void remove(Object endpoint, Handle object) {
            bound.remove(object.address(), endpoint);
            listEndpoints();
        }

        long write(long context, long data) { return ops.fi_eq_write(context, data); }

        /** Whether the calling thread may use all endpoints. Any thread may call this, inside the lock or not. */
        boolean isForCaller() {
            for (Endpoint endpoint : endpoints) {
                if (!endpoint.bindings.admitsCaller()) { return false; }
            }
            return true;
        }

        /** Makes the thread the owner of what was handed over to it. */
        private void checkThread() {
            for (Endpoint endpoint : endpoints) {
                if (endpoint.quirks.has(Fact.EVENT_READS_COMPLETE)) {
                    endpoint.bindings.checkThread();
                } else {
                    endpoint.bindings.takeOverIfHeir();
                }
            }
        }

        /** Reads one event. Returns whether there was one, even if its object is closed. */
        boolean read(Consumer<Event> taker) {
            checkThread();
            long status = ops.fi_eq_read();
            if (status == -Errno.EAGAIN || status == 0 || status == -Errno.EINTR) { return false; }
            Event event = status == -Errno.EAVAIL ? failure() : event(status);
            if (event != null) { taker.accept(event); }
            return true;
        }

        /** The event that was read; null if its object is closed. */
        private Event event(long status) {
            Status.check(status, "fi_eq_read", provider);
            return switch (ops.code()) {
                case FabricConstants.FI_NOTIFY -> new Event.Notification(ops.context(), ops.data());
                case FabricConstants.FI_CONNREQ -> connectionRequest(ops.connectionData(status));
                case FabricConstants.FI_CONNECTED ->
                    connectionEvent(connection -> connection.connected(ops.connectionData(status)));
                case FabricConstants.FI_SHUTDOWN -> connectionEvent(Connection::receiveShutdown);
                case FabricConstants.FI_MR_COMPLETE -> new Event.MemoryRegionComplete(ops.context(), ops.data());
                case FabricConstants.FI_AV_COMPLETE -> new Event.AddressVectorComplete(ops.context(), ops.data());
                case FabricConstants.FI_JOIN_COMPLETE -> new Event.JoinComplete(ops.context(), ops.data());
                default -> new Event.Unknown(ops.code(), ops.bytes(status));
            };
        }

        private Event connectionRequest(byte[] data) {
            InfoHandle info = ops.info(); // freed when unreachable
            if (!(bound.get(ops.object()) instanceof PassiveEndpoint passiveEndpoint)) { return null; }
            ConnectionRequest request = new ConnectionRequest(passiveEndpoint, info, data);
            return passiveEndpoint.admit(request) ? new Event.ConnectionRequested(request) : null;
        }

        private Event connectionEvent(Function<Connection, Event> change) {
            return bound.get(ops.object()) instanceof Endpoint endpoint
                    ? change.apply(endpoint.bindings.requireConnection())
                    : null;
        }

        private Event failure() {
            EqOps.ErrorEntry entry = ops.fi_eq_readerr();
            if (entry == null) { return null; }
            Endpoint endpoint = bound.get(entry.object()) instanceof Endpoint known ? known : null;
            EventError error = new EventError(Optional.ofNullable(endpoint), entry.context(), entry.data(),
                    entry.errno(), entry.providerErrno(), entry.providerText(), entry.errorData(), provider);
            if (endpoint != null) { endpoint.bindings.requireConnection().failed(error); }
            return new Event.Failed(error);
        }
    }
}
