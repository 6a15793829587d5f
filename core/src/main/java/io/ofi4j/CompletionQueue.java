package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.BlockingWait;
import io.ofi4j.internal.engine.BoundEndpoints;
import io.ofi4j.internal.engine.CompletionPoller;
import io.ofi4j.internal.engine.CompletionReader;
import io.ofi4j.internal.engine.CompletionWait;
import io.ofi4j.internal.engine.QueueReceives;
import io.ofi4j.internal.engine.WaitDescriptor;
import io.ofi4j.internal.quirks.QueueView;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import static io.ofi4j.internal.observe.EventRecorder.RECORDER;

import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.ffi.CqFormat;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.Handle;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Objects;

/**
 * Tells which operations have completed; fi_cq(3). Opened by {@link Domain#openCompletionQueue()}, bound to endpoints before
 * they are enabled. Polling also makes progress for them, where the provider's progress is manual.
 *
 * <p>Threads: as the domain's {@link ThreadingModel} says. Where threads share a queue, each completion goes to one of them.
 */
public final class CompletionQueue implements AutoCloseable, Waitable {
    /** Operations in flight on this queue; used inside the guard only, like all that follows. */
    final ContextSlab contexts;
    final ThreadGuard guard;

    private final Domain domain;
    private final Handle handle;
    private final WaitObject waitObject;
    private final Arena arena;
    private final BoundEndpoints endpoints = new BoundEndpoints();
    private final QueueReceives dataReceives = new QueueReceives();
    private final QueueView view = new View();
    private final CompletionPoller completions;
    private final CompletionWait waiting;

    private CompletionQueue(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes,
            ThreadGuard guard, Arena arena, WaitDescriptor descriptor) {
        boolean withSources = domain.info().capabilities().contains(Capability.SOURCE);
        int number = attributes.format().value();
        CqFormat format = withSources
                ? CqFormat.withSources(number, domain.quirks.has(Fact.SOURCES_OF_MESSAGES_ONLY))
                : CqFormat.withoutSources(number);
        this.domain = domain;
        this.handle = handle;
        this.waitObject = attributes.waitObject();
        this.guard = guard;
        this.arena = arena;
        this.contexts = new ContextSlab(arena, size);
        BlockingWait blocking = new BlockingWait(descriptor, "await on " + this);
        CompletionReader.Parts parts = new CompletionReader.Parts(this, handle, guard, contexts, format,
                domain.quirks.has(Fact.CRITICAL_POLLS), endpoints, dataReceives);
        this.completions = new CompletionPoller(parts, domain.closingRegions, blocking);
        this.waiting = new CompletionWait(parts, domain.fabric().handle(), domain.quirks, completions, blocking,
                attributes.waitThreshold());
    }

    /** Takes over a queue that was opened; if that fails, the queue is closed again. */
    static CompletionQueue adopt(Domain domain, Handle handle, int size, CompletionQueueAttributes attributes,
            ThreadGuard guard) {
        Arena arena = Arena.ofShared();
        WaitDescriptor descriptor = null;
        try {
            descriptor = WaitDescriptor.open(handle, attributes.waitObject());
            return new CompletionQueue(domain, handle, size, attributes, guard, arena, descriptor);
        } catch (Throwable t) {
            FidOps.fi_close(handle);
            arena.close();
            if (descriptor != null) {
                descriptor.close();
            }
            throw t;
        }
    }

    /** What the provider's quirks see of it. */
    private final class View implements QueueView {
        @Override
        public boolean admitsCaller() {
            return guard.admitsAnyone(Thread.currentThread());
        }

        @Override
        public void drain() {
            CompletionQueue.this.drain();
        }

        @Override
        public int inFlight() {
            return CompletionQueue.this.inFlight();
        }
    }

    QueueView view() {
        return view;
    }

    Handle handle() {
        return handle;
    }

    Domain domain() {
        return domain;
    }

    QueueReceives dataReceives() {
        return dataReceives;
    }

    BoundEndpoints endpoints() {
        return endpoints;
    }

    boolean hasWaitObject() {
        return waitObject != WaitObject.NONE;
    }

    /** An endpoint that the provider knows to be bound is about to be closed; inside the guard. */
    void closing() {
        waiting.closing();
    }

    /** An endpoint was enabled; inside the guard. */
    void enabled() {
        endpoints.enabled();
        completions.readable();
    }

    /** @throws IllegalStateException if this queue is closed */
    void bind(Endpoint endpoint) {
        guard.enterAsAnyone();
        try {
            completions.requireOpen();
            endpoints.bound(endpoint);
        } finally {
            guard.exit();
        }
    }

    /** From now on, there may be operations that nobody wants to know of. */
    void dropSilent() {
        guard.enterAsAnyone();
        completions.dropSilent();
        guard.exit();
    }

    /** {@return how many operations can be in flight on this queue} */
    public int size() {
        return contexts.capacity();
    }

    /**
     * {@return how many operations are in flight on this queue: accepted, their completion not read yet}
     *
     * @throws WrongThreadException if the threading model names an owner and this is another thread
     */
    public int operationsInFlight() {
        guard.enter();
        try {
            return contexts.inFlight();
        } finally {
            guard.exit();
        }
    }

    /**
     * Reads completions that are there, hands them to the handler, and makes progress; never waits; fi_cq_read. If the
     * handler throws, what it was not handed yet stays for the next poll.
     *
     * @param handler who takes them
     * @param limit how many at most, at least 1; no more than 64 come at once
     * @return how many the handler was handed; 0 where none is there
     * @throws IllegalArgumentException if the limit is below 1
     * @throws IllegalStateException if this queue is closed
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails
     */
    public int poll(CompletionHandler handler, int limit) {
        if (limit < 1) {
            throw badLimit(limit);
        }
        Objects.requireNonNull(handler, "handler"); // now, and not when it is to take a completion
        return completions.poll(handler, Math.min(limit, CompletionReader.BATCH));
    }

    /**
     * Waits for completions, and hands them to the handler as {@link #poll} does; fi_cq_sread. What is kept counts first. It
     * blocks on the wait descriptor where the queue has one, without keeping other threads from polling and posting; where it
     * has none ({@link WaitObject#NONE}, {@link WaitObject#YIELD}, and of some providers {@link WaitObject#UNSPECIFIED}), it
     * polls, and lets other threads run in between. A virtual thread always polls, and holds no carrier in between.
     *
     * @param handler who takes them
     * @param limit how many at most, at least 1; no more than 64 come at once
     * @param deadline how long to wait at most
     * @return how many the handler was handed; 0 where time is over, or {@link #signal} was called. With a
     *         {@link CompletionQueueAttributes#waitThreshold} fewer may be there when time is over
     * @throws IllegalArgumentException if the limit is below 1
     * @throws IllegalStateException if this queue is closed, also by another thread while this one waits
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails, or the thread is interrupted, with errno {@code EINTR} (4); the
     *         interrupt status stays set
     */
    public int await(CompletionHandler handler, int limit, Duration deadline) {
        Objects.requireNonNull(handler, "handler");
        if (limit < 1) {
            throw badLimit(limit);
        }
        guard.checkThread(); // before a signal is taken
        return waiting.until(() -> poll(handler, limit), deadline);
    }

    /**
     * Makes the threads that wait in {@link #await} return, or where none does, the next one that would; and makes the wait
     * descriptor readable, or where no thread waits in await, the next {@link #tryWait} say no, so that an application's own loop
     * does not sleep over it. Any thread may call this, whatever the threading model says; what fi_cq_signal does for
     * fi_cq_sread.
     *
     * @throws IllegalStateException if this queue is closed
     */
    public void signal() {
        waiting.signal();
    }

    @Override
    public int waitDescriptor() {
        return waiting.descriptor();
    }

    @Override
    public boolean tryWait() {
        return waiting.tryWait();
    }

    /**
     * Makes progress without handing out anything; what completes is kept for the next {@link #poll}. Does nothing once as
     * many completions are kept as operations can be in flight.
     *
     * @throws IllegalStateException if this queue is closed
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if the queue itself fails
     */
    public void progress() {
        if (!progressIfOpen()) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    /** {@return whether this queue is open; then it made progress} */
    boolean progressIfOpen() {
        guard.enter();
        try {
            if (completions.isClosed()) {
                return false;
            }
            if (completions.kept() < contexts.capacity() && completions.readAside()) {
                waiting.wake();
            }
        } finally {
            guard.exit();
        }
        completions.finishIdleRegions();
        return true;
    }

    /**
     * {@return what this queue has told so far, and what it holds} With {@link ThreadingModel#SAFE} and
     * {@link ThreadingModel#COMPLETION} any thread may ask, also after this queue was closed.
     *
     * @throws WrongThreadException if the domain's threading model is DOMAIN and this is not its thread
     */
    public CompletionQueueStatistics statistics() {
        guard.enterAsAnyone();
        try {
            return completions.statistics();
        } finally {
            guard.exit();
        }
    }

    EndpointStatistics statisticsOf(Endpoint endpoint) {
        guard.enterAsAnyone();
        try {
            return new EndpointStatistics(contexts.inFlightOfEndpoint(endpoint.number), endpoint.canceled,
                    endpoint.timesFull);
        } finally {
            guard.exit();
        }
    }

    int readsInFlight(Endpoint endpoint) {
        guard.enterAsAnyone();
        try {
            return contexts.readsInFlight(endpoint.number);
        } finally {
            guard.exit();
        }
    }

    int inFlight() {
        guard.enterAsAnyone();
        try {
            return contexts.inFlight();
        } finally {
            guard.exit();
        }
    }

    /** Completes an operation that has nothing to do; inside the guard. False where too much is kept already. */
    boolean keep(long token, long flags) {
        boolean hasRoom = completions.keep(token, flags);
        if (hasRoom) {
            waiting.wake();
        }
        return hasRoom;
    }

    int inFlight(MemoryRegion region) {
        guard.enterAsAnyone();
        try {
            return contexts.inFlightOfRegion(region.number);
        } finally {
            guard.exit();
        }
    }

    /** Reads everything that an endpoint has completed, before it is closed. */
    void drain() {
        guard.enterAsAnyone();
        try {
            while (!completions.isClosed() && completions.readAside()) {
                waiting.wake();
            }
        } finally {
            guard.exit();
        }
    }

    /** @throws IllegalStateException if there is too little room for the receives of another endpoint */
    void requireRoomForReceives(Endpoint endpoint, int count) {
        guard.enterAsAnyone();
        try {
            dataReceives.requireRoom(this, size(), endpoint, count);
        } finally {
            guard.exit();
        }
    }

    /** After an endpoint was closed: nothing writes to the contexts of its receives any more. */
    void forgetReceives(Endpoint endpoint) {
        drain();
        guard.enterAsAnyone();
        try {
            dataReceives.forget(endpoint);
        } finally {
            guard.exit();
        }
    }

    /**
     * After an endpoint was closed: what it has not completed will never be, and is reported as canceled.
     *
     * @param isClosed whether the provider has closed it, and completes nothing of it any more
     */
    void cancel(Endpoint endpoint, boolean isClosed) {
        drain();
        guard.enterAsAnyone();
        try {
            int count = completions.cancel(endpoint.number, isClosed);
            if (count > 0) {
                waiting.wake();
            }
            endpoint.canceled += count;
        } finally {
            guard.exit();
        }
        if (endpoint.canceled > 0) {
            RECORDER.canceled(endpoint.info().provider(), endpoint.canceled);
        }
        completions.finishIdleRegions();
    }

    /**
     * Closes the queue; fi_close. Completions that nobody polled for are gone.
     *
     * @throws IllegalStateException if endpoints bound to it are open; they are named
     * @throws WrongThreadException if the threading model gives this queue to another thread
     * @throws FabricException if libfabric reports an error; the queue counts as closed all the same
     */
    @Override
    public void close() {
        guard.enter();
        try {
            if (completions.isClosed()) {
                return;
            }
            endpoints.requireNone(this);
            completions.close();
        } finally {
            guard.exit();
        }
        waiting.awaitNobodyInside();
        domain.forget(this);
        int status = domain.closes.close(this::closeNatively);
        Status.check(status, "fi_close(completion queue)", handle.provider());
    }

    private int closeNatively() {
        int status = FidOps.fi_close(handle);
        waiting.close();
        if (status == 0) { // contexts that a provider may still write to are better lost than freed
            arena.close();
        }
        return status;
    }

    private static IllegalArgumentException badLimit(int limit) {
        return new IllegalArgumentException("poll takes a limit of at least 1, not " + limit);
    }

    @Override
    public String toString() {
        return "CompletionQueue of " + handle.provider();
    }
}
