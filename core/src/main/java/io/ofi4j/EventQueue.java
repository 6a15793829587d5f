package io.ofi4j;

import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.EventWait;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Reports events of connections (requested, established, failed, ended) and of the application itself; fi_eq(3). Opened by
 * {@link Fabric#openEventQueue()}, bound to connected and passive endpoints.
 *
 * <p>With most providers, connections are established only while both ends read their event queues. The {@code tcp} provider of
 * libfabric 1.x notices that a peer has gone only while the endpoint's completion queue is polled.
 *
 * <p>Any thread may call it. While endpoints of a domain with {@link ThreadingModel#DOMAIN} or
 * {@link ThreadingModel#COMPLETION} are bound, only the thread that owns the domain and its queues may read; others get
 * {@link WrongThreadException}. Except for accessors, every method throws {@link IllegalStateException} once the queue is
 * closed, and {@link FabricException} if the queue itself fails.
 */
public final class EventQueue implements Waitable, AutoCloseable {
    final Fabric fabric;

    private final Handle handle;
    private final EventQueueAttributes attributes;
    /** Held in every native call on the queue, since some providers allow only one reader; fair, because waiting is in slices. */
    private final ReentrantLock lock = new ReentrantLock(true);
    private final EventReader reader;
    private final Deque<Event> kept = new ArrayDeque<>();
    private final OpenChildren children = new OpenChildren();
    /** Whether fi_eq_sread respects its timeout. */
    private final boolean keepsTime;
    private boolean hasRetired;
    private boolean closed;

    /** What {@link EventWait} needs of this queue. */
    private final class Waited implements EventWait.Source {
        @Override
        public boolean pumpUntil(BooleanSupplier condition, int milliseconds) {
            return EventQueue.this.pumpUntil(condition, milliseconds);
        }

        @Override
        public void progressBeside() { fabric.progressBeside(EventQueue.this); }
    }

    private EventQueue(Fabric fabric, Handle handle, EventQueueAttributes attributes) {
        this.fabric = fabric;
        this.handle = handle;
        this.attributes = attributes;
        this.reader = new EventReader(handle, fabric.domainList());
        this.keepsTime = !FoundInfo.of(fabric.info()).chosenQuirks().has(Fact.EVENT_WAIT_IGNORES_TIME);
    }

    static EventQueue open(Fabric fabric, Handle fabricHandle, EventQueueAttributes attributes) {
        Opened out = fabric.domainList().walk(() -> FabricOps.fi_eq_open(fabricHandle, attributes.size().orElse(0),
                attributes.isWritable() ? FabricConstants.FI_WRITE : 0, attributes.waitObject().value()));
        boolean isRefused = out.status() == -Errno.EINVAL || out.status() == -Errno.ENOSYS;
        if (isRefused && attributes.waitObject() == WaitObject.YIELD) {
            throw new UnsupportedOperationException(
                    "event queues with wait object YIELD are not offered by the provider " + fabricHandle.provider());
        }
        Status.check(out.status(), "fi_eq_open", fabricHandle.provider());
        return new EventQueue(fabric, out.handle(), attributes);
    }

    Handle handle() { return handle; }

    /** {@return the attributes it was opened with} */
    public EventQueueAttributes attributes() { return attributes; }

    /** {@return the next event, if there is one; fi_eq_read, fi_eq_readerr} Never waits. */
    public Optional<Event> read() {
        return inLock(() -> {
            while (kept.isEmpty() && pump(0)) {
                Thread.onSpinWait();
            }
            return Optional.ofNullable(kept.poll());
        });
    }

    /**
     * As {@link #read()}, but waits for an event; fi_eq_sread, in slices of some milliseconds. Virtual threads, and queues
     * without a wait object, sleep between reads.
     *
     * @param deadline the longest time to wait
     * @throws FabricTimeoutException if there is no event in that time
     * @throws FabricException if the queue itself fails, or the thread is interrupted: errno {@code EINTR} (4), with the
     *         interrupt status still set
     */
    public Event read(Duration deadline) {
        Event[] next = new Event[1];
        if (!await(() -> (next[0] = kept.poll()) != null, deadline)) {
            throw new FabricTimeoutException("reading an event", deadline, "No event came.");
        }
        return next[0];
    }

    /** Makes progress on connections without returning events, which are kept for the next {@link #read()}. */
    public void progress() {
        inLock(() -> pump(0));
    }

    /** Makes progress unless another thread does, or this thread must not. */
    void tryProgress() {
        if (lock.tryLock()) {
            try {
                if (!closed) { pump(0); }
            } catch (WrongThreadException e) {
                return; // the owner of the bound endpoints makes progress instead
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Adds an event of the application, which is read as {@link Event.Notification}; fi_eq_write.
     *
     * @param context any number
     * @param data any number
     * @throws UnsupportedOperationException if this queue was not opened as {@link EventQueueAttributes#writable()}, or the
     *         provider does not offer it
     */
    public void write(long context, long data) {
        lock.lock();
        try {
            requireOpen();
            if (!attributes.isWritable()) {
                throw new UnsupportedOperationException(
                        this + " was not opened for writing: open it with EventQueueAttributes.writable()");
            }
            Status.check(reader.write(context, data), "fi_eq_write", handle.provider());
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return the file descriptor that is readable when there may be an event; fi_control with FI_GETWAIT} For an
     * application's own epoll or poll; call {@link #tryWait} before each wait. The queue owns the descriptor.
     *
     * @throws IllegalStateException also if this queue was not opened with {@link WaitObject#FD}
     */
    @Override
    public int waitDescriptor() {
        return inLock(() -> {
            requireOpen();
            requireDescriptor();
            FidOps.Control control = FidOps.fi_control(handle, FabricConstants.FI_GETWAIT);
            Status.check(control.status(), "fi_control(FI_GETWAIT)", handle.provider());
            return control.value();
        });
    }

    /**
     * {@return whether a thread may block on the wait descriptor now; if not, read; fi_trywait}
     *
     * @throws IllegalStateException also if this queue was not opened with {@link WaitObject#FD}
     */
    @Override
    public boolean tryWait() {
        return inLock(() -> {
            requireOpen();
            requireDescriptor();
            return kept.isEmpty() && FabricOps.fi_trywait(fabric.handle(), handle) == 0;
        });
    }

    private void requireDescriptor() {
        if (attributes.waitObject() != WaitObject.FD) {
            throw new IllegalStateException(this + " has wait object " + attributes.waitObject() + ": open it with FD");
        }
    }

    /** Reads and keeps events until a condition holds that they change; returns whether it held in time. */
    boolean await(BooleanSupplier condition, Duration deadline) {
        return new EventWait(new Waited(), attributes.waitObject() != WaitObject.NONE && keepsTime).until(condition,
                deadline);
    }

    private boolean pumpUntil(BooleanSupplier condition, int milliseconds) {
        return inLock(() -> {
            if (condition.getAsBoolean()) { return true; }
            for (int wait = milliseconds; pump(wait); wait = 0) {
                if (condition.getAsBoolean()) { return true; }
            }
            return false;
        });
    }

    private <T> T inLock(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    /** Reads one event and keeps it, inside the lock; returns whether there was one. */
    private boolean pump(int milliseconds) {
        requireOpen();
        return reader.read(milliseconds, kept::add);
    }

    /** Adds an event that the provider does not report. */
    void tell(Event event) { inLock(() -> kept.add(event)); }

    /** Removes kept events whose outcome the caller learned otherwise. */
    void discard(Predicate<Event> which) {
        inLock(() -> kept.removeIf(which));
    }

    void bind(Endpoint endpoint, Handle object) {
        inLock(() -> {
            requireOpen();
            children.add(endpoint);
            reader.add(endpoint, object);
            return null;
        });
    }

    void bind(PassiveEndpoint endpoint, Handle object) {
        inLock(() -> {
            requireOpen();
            children.add(endpoint);
            reader.add(endpoint, object);
            return null;
        });
    }

    /** Closes an endpoint natively while no thread reads, then forgets it: a new one may get the same native address at once. */
    int closing(Endpoint endpoint, Handle object, IntSupplier close) {
        return inLock(() -> {
            int status = close.getAsInt();
            reader.remove(endpoint, object);
            forgetUnread();
            children.remove(endpoint);
            return status;
        });
    }

    /** Closes a passive endpoint while no thread reads. If it is only retired, late requests still find it. */
    int closing(PassiveEndpoint endpoint, Handle object, boolean retires, IntSupplier close) {
        return inLock(() -> {
            int status = close.getAsInt(); // may throw: then nothing has changed
            hasRetired |= retires;
            if (!retires) {
                reader.remove(endpoint, object);
                forgetUnread();
            }
            children.remove(endpoint);
            return status;
        });
    }

    /** Drops unread events of a closed endpoint, before a new one gets the same native address. */
    private void forgetUnread() {
        try {
            while (!closed && pump(0)) {
                Thread.onSpinWait();
            }
        } catch (WrongThreadException | FabricException e) { // the owner reads them, or the next reader gets the error
            return;
        }
    }

    /** Reads everything there is. */
    void drain() {
        inLock(() -> {
            while (pump(0)) {
                Thread.onSpinWait();
            }
            return null;
        });
    }

    /** Frees the infos of unread requests. */
    private void drainQuietly() {
        try {
            drain();
        } catch (FabricException e) { // the queue is about to close anyway
            kept.clear();
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Closes the queue; fi_close. Unread events are discarded. Throws {@link IllegalStateException} naming the endpoints bound
     * to it that are open.
     */
    @Override
    public void close() {
        int status = 0;
        lock.lock();
        try {
            if (closed) { return; }
            children.requireNone(this);
            drainQuietly();
            closed = true;
            kept.clear();
            if (hasRetired) {
                fabric.retired().queue(handle);
            } else {
                status = fabric.domainList().walk(() -> FidOps.fi_close(handle));
            }
        } finally {
            lock.unlock();
        }
        fabric.forget(this);
        Status.check(status, "fi_close(event queue)", handle.provider());
    }

    @Override
    public String toString() { return "EventQueue of " + handle.provider(); }
}
