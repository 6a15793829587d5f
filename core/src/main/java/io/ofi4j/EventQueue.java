package io.ofi4j;

import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.EventWait;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * Tells what happens beside transfers: connections asked for, made, refused and ended, and what the application itself
 * writes; fi_eq(3). Opened by {@link Fabric#openEventQueue()}, bound to connected and passive endpoints.
 *
 * <p>With most providers connections are only made while somebody reads the queues of both ends, and the {@code tcp} provider of
 * libfabric 1.x notices that a peer has gone only while somebody polls the endpoint's completion queue.
 *
 * <p>Threads: any thread may read it. While endpoints of a domain with {@link ThreadingModel#DOMAIN} or
 * {@link ThreadingModel#COMPLETION} are bound, only the thread may that owns these domains and queues.
 */
public final class EventQueue implements Waitable, AutoCloseable {
    final Fabric fabric;

    private final Handle handle;
    private final EventQueueAttributes attributes;
    /** Held in every native call on the queue, whose providers do not all bear two readers; fair, for waiting is in slices. */
    private final ReentrantLock lock = new ReentrantLock(true);
    private final EventReader reader;
    private final Deque<Event> kept = new ArrayDeque<>();
    private final OpenChildren children = new OpenChildren();
    /** Whether fi_eq_sread returns in time. */
    private final boolean keepsTime;
    private boolean hasRetired;
    private boolean closed;

    /** What threads wait for. */
    private final class Waited implements EventWait.Source {
        @Override
        public boolean pumpUntil(BooleanSupplier condition, int milliseconds) {
            return EventQueue.this.pumpUntil(condition, milliseconds);
        }

        @Override
        public void progressBeside() {
            fabric.progressBeside(EventQueue.this);
        }
    }

    private EventQueue(Fabric fabric, Handle handle, EventQueueAttributes attributes) {
        this.fabric = fabric;
        this.handle = handle;
        this.attributes = attributes;
        this.reader = new EventReader(handle, fabric.domainList());
        this.keepsTime = !FoundInfo.of(fabric.info()).quirks().has(Fact.EVENT_WAIT_IGNORES_TIME);
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

    Handle handle() {
        return handle;
    }

    /** {@return what it was opened with} */
    public EventQueueAttributes attributes() {
        return attributes;
    }

    /**
     * Reads the next event if one is there; never waits; fi_eq_read, fi_eq_readerr.
     *
     * @return the event, or nothing
     */
    public Optional<Event> read() {
        lock.lock();
        try {
            while (kept.isEmpty() && pump(0)) {
                Thread.onSpinWait();
            }
            return Optional.ofNullable(kept.poll());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads the next event, and waits for it; fi_eq_sread, in slices of some milliseconds. Virtual threads, and queues without
     * a wait object, sleep between two looks.
     *
     * @param deadline how long at most
     * @return the event
     * @throws FabricTimeoutException if none comes in that time
     * @throws IllegalStateException if this queue is closed, or gets closed meanwhile
     * @throws FabricException if the queue itself fails, or the thread is interrupted, with errno {@code EINTR} (4); the
     *         interrupt status stays set
     */
    public Event read(Duration deadline) {
        Event[] next = new Event[1];
        if (!await(() -> (next[0] = kept.poll()) != null, deadline)) {
            throw new FabricTimeoutException("reading an event", deadline,
                    "Nothing happened that this queue tells of.");
        }
        return next[0];
    }

    /** Makes progress with connections without handing out anything; what happens is kept for the next {@link #read()}. */
    public void progress() {
        lock.lock();
        try {
            pump(0);
        } finally {
            lock.unlock();
        }
    }

    /** Makes progress unless somebody else is at it, or may not. */
    void tryProgress() {
        if (lock.tryLock()) {
            try {
                if (!closed) {
                    pump(0);
                }
            } catch (WrongThreadException e) {
                return; // of one of its endpoints, whose thread will
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Adds an event of the application's own; fi_eq_write. It comes back as {@link Event.Notification}.
     *
     * @param context any number
     * @param data any number
     * @throws UnsupportedOperationException if this queue was not opened as {@link EventQueueAttributes#writable()}, or the
     *         provider takes none
     */
    public void write(long context, long data) {
        lock.lock();
        try {
            requireOpen();
            if (!attributes.isWritable()) {
                throw new UnsupportedOperationException(
                        this + " was not opened for writing: ask for EventQueueAttributes.writable()");
            }
            Status.check(reader.write(context, data), "fi_eq_write", handle.provider());
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return the file descriptor that is readable when there may be an event; fi_control with FI_GETWAIT} For an
     * application's own epoll or poll, before which {@link #tryWait} must say yes. It belongs to the queue.
     *
     * @throws IllegalStateException if this queue was not opened with {@link WaitObject#FD}, or is closed
     */
    @Override
    public int waitDescriptor() {
        lock.lock();
        try {
            requireOpen();
            requireDescriptor();
            FidOps.Control control = FidOps.fi_control(handle, FabricConstants.FI_GETWAIT);
            Status.check(control.status(), "fi_control(FI_GETWAIT)", handle.provider());
            return control.value();
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return whether a thread may block on the wait descriptor now; otherwise read; fi_trywait}
     *
     * @throws IllegalStateException if this queue was not opened with {@link WaitObject#FD}, or is closed
     */
    @Override
    public boolean tryWait() {
        lock.lock();
        try {
            requireOpen();
            requireDescriptor();
            return kept.isEmpty() && FabricOps.fi_trywait(fabric.handle(), handle) == 0;
        } finally {
            lock.unlock();
        }
    }

    private void requireDescriptor() {
        if (attributes.waitObject() != WaitObject.FD) {
            throw new IllegalStateException(this + " has wait object " + attributes.waitObject() + ": open it with FD");
        }
    }

    /** Reads events, and keeps them, until a condition holds that they change: whether it does in time. */
    boolean await(BooleanSupplier condition, Duration deadline) {
        return new EventWait(new Waited(), attributes.waitObject() != WaitObject.NONE && keepsTime).until(condition,
                deadline);
    }

    private boolean pumpUntil(BooleanSupplier condition, int milliseconds) {
        lock.lock();
        try {
            if (condition.getAsBoolean()) {
                return true;
            }
            for (int wait = milliseconds; pump(wait); wait = 0) {
                if (condition.getAsBoolean()) {
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Reads one event and keeps it, inside the lock: whether there was one. */
    private boolean pump(int milliseconds) {
        requireOpen();
        return reader.read(milliseconds, kept::add);
    }

    /** Keeps an event that no provider tells of. */
    void tell(Event event) {
        lock.lock();
        try {
            kept.add(event);
        } finally {
            lock.unlock();
        }
    }

    /** Removes kept events that somebody has learned of otherwise. */
    void discard(Predicate<Event> which) {
        lock.lock();
        try {
            kept.removeIf(which);
        } finally {
            lock.unlock();
        }
    }

    void bind(Endpoint endpoint, Handle object) {
        lock.lock();
        try {
            requireOpen();
            children.add(endpoint);
            reader.add(endpoint, object);
        } finally {
            lock.unlock();
        }
    }

    void bind(PassiveEndpoint endpoint, Handle object) {
        lock.lock();
        try {
            requireOpen();
            children.add(endpoint);
            reader.add(endpoint, object);
        } finally {
            lock.unlock();
        }
    }

    /** Closes an endpoint natively while nobody reads, and forgets it: another may get its place in memory at once. */
    int closing(Endpoint endpoint, Handle object, IntSupplier close) {
        lock.lock();
        try {
            int status = close.getAsInt();
            reader.remove(endpoint, object);
            forgetUnread();
            children.remove(endpoint);
            return status;
        } finally {
            lock.unlock();
        }
    }

    /** Lets a passive endpoint close while nobody reads. If it is only retired, late requests still find it. */
    int closing(PassiveEndpoint endpoint, Handle object, boolean retires, IntSupplier close) {
        lock.lock();
        try {
            int status = close.getAsInt(); // may refuse: then nothing has changed
            hasRetired |= retires;
            if (!retires) {
                reader.remove(endpoint, object);
                forgetUnread();
            }
            children.remove(endpoint);
            return status;
        } finally {
            lock.unlock();
        }
    }

    /** What is still to be read of what was closed is nobody's, and not of the next one that gets its place in memory. */
    private void forgetUnread() {
        try {
            while (!closed && pump(0)) {
                Thread.onSpinWait();
            }
        } catch (WrongThreadException | FabricException e) { // others are bound, whose thread reads it; or the next reader learns why
            return;
        }
    }

    /** Reads all that is there. */
    void drain() {
        lock.lock();
        try {
            while (pump(0)) {
                Thread.onSpinWait();
            }
        } finally {
            lock.unlock();
        }
    }

    /** What came with requests is freed. */
    private void drainQuietly() {
        try {
            drain();
        } catch (FabricException e) { // it is of no more use
            kept.clear();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /** Closes the queue; fi_close. Events that nobody read are gone. */
    @Override
    public void close() {
        int status = 0;
        lock.lock();
        try {
            if (closed) {
                return;
            }
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
    public String toString() {
        return "EventQueue of " + handle.provider();
    }
}
