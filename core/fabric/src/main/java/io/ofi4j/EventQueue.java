package io.ofi4j;

import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.FabricLock;
import io.ofi4j.internal.engine.Interrupts;
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
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
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
 * <p>Any thread may call it. While endpoints of a domain with {@link ThreadingModel#DOMAIN} or
 * {@link ThreadingModel#COMPLETION} are bound, only the thread that owns the domain and its queues may read; others get
 * {@link WrongThreadException}. Except for accessors, every method throws {@link IllegalStateException} once the queue
 * is closed, and {@link FabricException} if the queue itself fails.
 */
public final class EventQueue implements Waitable, AutoCloseable {
    private static final long MIN_PAUSE_NANOS = 20_000;
    private static final long MAX_PAUSE_NANOS = 1_000_000;

    final Fabric fabric;

    private final Handle handle;
    private final EventQueueAttributes attributes;
    /** The fabric's lock: held in every native call, and while the fields here are used. */
    private final FabricLock lock;
    private final EventReader reader;
    private final Deque<Event> buffered = new ArrayDeque<>();
    private final OpenChildren children = new OpenChildren();
    /** Why the last {@link #drainQuietly} has ended early, for the next reader; otherwise null. */
    private FabricException unreported;
    private boolean hasRetired;
    private boolean closed;

    private EventQueue(Fabric fabric, Handle handle, EventQueueAttributes attributes) {
        this.fabric = fabric;
        this.handle = handle;
        this.attributes = attributes;
        this.lock = fabric.lock;
        this.reader = new EventReader(handle);
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
        return out.adopt(opened -> new EventQueue(fabric, opened, attributes), FidOps::fi_close);
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
            progressUntil(() -> !buffered.isEmpty());
            return Optional.ofNullable(buffered.poll());
        });
    }

    /**
     * {@return the next event, if there is one, which stays for the next {@link #read()}; fi_eq_read with FI_PEEK} It
     * never waits.
     */
    public Optional<Event> peek() {
        return lock.locked(() -> {
            progressUntil(() -> !buffered.isEmpty());
            return Optional.ofNullable(buffered.peek());
        });
    }

    /**
     * As {@link #read()}, but waits for an event: it reads again and again, and sleeps between reads, a millisecond at
     * most. It does not call fi_eq_sread, which would block the fabric's other connections for the whole wait.
     *
     * @param deadline the longest time to wait
     * @throws FabricTimeoutException if there is no event in that time
     * @throws FabricException if the queue itself fails, or the thread is interrupted: errno {@code EINTR} (4), with
     *         the interrupt status still set
     */
    public Event read(Duration deadline) {
        StackRoom.require(); // before an event is removed
        Event[] next = new Event[1];
        if (!await(() -> (next[0] = buffered.poll()) != null, deadline)) {
            throw new FabricTimeoutException("reading an event", deadline, "No event came.");
        }
        return next[0];
    }

    /** Makes progress on connections, and buffers events for the next {@link #read()}. */
    public void progress() {
        lock.locked(this::readNext);
    }

    /** Makes progress, unless this queue is closed or another thread's. */
    void tryProgress() {
        lock.locked(() -> {
            try {
                if (!closed) { readNext(); }
            } catch (WrongThreadException e) {
                return; // the owner of the bound endpoints makes progress instead
            }
        });
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
        return lock.locked(() -> {
            requireDescriptor();
            FidOps.Control control = FidOps.fi_control(handle, FabricConstants.FI_GETWAIT);
            Status.check(control.status(), "fi_control(FI_GETWAIT)", handle.provider());
            return control.value();
        });
    }

    /**
     * {@return whether a thread may block on the wait descriptor now; fi_trywait, fi_poll(3)} If not, read this queue
     * first.
     *
     * @throws IllegalStateException if this queue was not opened with {@link WaitObject#FD}
     */
    @Override
    public boolean tryWait() {
        return lock.locked(() -> {
            requireDescriptor();
            return buffered.isEmpty() && FabricOps.fi_trywait(fabric.handle(), handle) == 0;
        });
    }

    private void requireDescriptor() {
        requireOpen();
        if (attributes.waitObject() != WaitObject.FD) {
            throw new IllegalStateException(
                    this + " has wait object " + attributes.waitObject() + ": open it with WaitObject.FD");
        }
    }

    /** Reads and buffers events until a condition holds, which they change. Returns whether it held in time. */
    boolean await(BooleanSupplier condition, Duration deadline) {
        Object recording = RECORDER.waiting();
        long start = System.nanoTime();
        long limit = Deadlines.nanos(deadline);
        long pause = MIN_PAUSE_NANOS;
        while (true) {
            long left = limit - (System.nanoTime() - start);
            boolean happened = progressUntil(condition);
            if (happened || left <= 0) {
                RECORDER.waited(recording, "reading events", happened);
                return happened;
            }
            Interrupts.check("reading events");
            fabric.progressOthers(this);
            LockSupport.parkNanos(this, Math.min(pause, left));
            pause = Math.min(2 * pause, MAX_PAUSE_NANOS);
        }
    }

    /** Reads and buffers events until the condition holds or there are no more. Returns whether it holds. */
    private boolean progressUntil(BooleanSupplier condition) {
        return lock.locked(() -> {
            while (!condition.getAsBoolean()) {
                if (!readNext()) { return false; }
            }
            return true;
        });
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
        return reader.read(buffered::add);
    }

    /** Adds an event that the provider does not report. */
    void buffer(Event event) {
        lock.locked(() -> buffered.add(event));
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
                if (!closed) { drainQuietly(); }
            }
            return status;
        });
    }

    /** Reads everything there is. */
    void drain() { progressUntil(() -> false); }

    /** As {@link #drain}, where the caller must go on: an error of the queue is the next reader's. */
    private void drainQuietly() {
        try {
            drain();
        } catch (WrongThreadException e) {
            return; // the owner reads them
        } catch (FabricException e) {
            unreported = e;
        }
    }

    /** Whether endpoints that are bound to it are open. */
    boolean isBound() { return !children.isEmpty(); }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Closes the queue; fi_close, fi_eq(3). Unread events are discarded. If endpoints bound to it are open, it throws
     * {@link IllegalStateException}, which names them, and stays open. After FabricException it is closed.
     */
    @Override
    public void close() {
        StackRoom.require();
        int status = lock.locked(this::closeNatively);
        fabric.forget(this);
        Status.check(status, "fi_close(event queue)", handle.provider());
    }

    private int closeNatively() {
        if (closed) { return 0; }
        children.requireNone(this);
        drainQuietly(); // frees the infos of unread requests
        closed = true;
        buffered.clear();
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

        EventReader(Handle queue) {
            this.ops = new EqOps(queue);
            this.provider = queue.provider();
        }

        void add(Object endpoint, Handle object) { bound.put(object.address(), endpoint); }

        /** Removes an endpoint, unless a new one has the same native address by now. */
        void remove(Object endpoint, Handle object) {
            bound.remove(object.address(), endpoint);
        }

        long write(long context, long data) { return ops.fi_eq_write(context, data); }

        /** Reads one event. Returns whether there was one, even if its object is closed. */
        boolean read(Consumer<Event> taker) {
            for (Object one : bound.values()) {
                if (one instanceof Endpoint endpoint) { endpoint.bindings.checkThread(); }
            }
            EqOps.Read read = ops.fi_eq_read();
            if (read.status() == -Errno.EAGAIN || read.status() == 0 || read.status() == -Errno.EINTR) { return false; }
            Event event = read.status() == -Errno.EAVAIL ? failure() : event(read);
            if (event != null) { taker.accept(event); }
            return true;
        }

        /** The event that was read; null if its object is closed. */
        private Event event(EqOps.Read read) {
            Status.check(read.status(), "fi_eq_read", provider);
            return switch (read.code()) {
                case FabricConstants.FI_NOTIFY -> new Event.Notification(ops.context(), ops.data());
                case FabricConstants.FI_CONNREQ -> connectionRequest(ops.connectionData(read.status()));
                case FabricConstants.FI_CONNECTED ->
                    connectionEvent(connection -> connection.connected(ops.connectionData(read.status())));
                case FabricConstants.FI_SHUTDOWN -> connectionEvent(Connection::receiveShutdown);
                case FabricConstants.FI_MR_COMPLETE -> new Event.MemoryRegionComplete(ops.context(), ops.data());
                case FabricConstants.FI_AV_COMPLETE -> new Event.AddressVectorComplete(ops.context(), ops.data());
                case FabricConstants.FI_JOIN_COMPLETE -> new Event.JoinComplete(ops.context(), ops.data());
                default -> new Event.Unknown(read.code(), ops.bytes(read.status()));
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
