package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.engine.WaitDescriptor;
import io.ofi4j.internal.engine.WaitObjectProbe;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The completion queues and counters of a domain. */
final class DomainQueues {
    private static final int MINIMUM_SIZE = 128;
    private static final int MAXIMUM_DEFAULT_SIZE = 4096;

    private final Domain domain;
    private final FabricInfo info;
    private final ThreadGuard domainGuard;
    private final List<CompletionQueue> queues = new CopyOnWriteArrayList<>();
    private ProgressThread progressThread;
    /** The deferred work of the domain. */
    final DeferredWork works;

    DomainQueues(Domain domain, ThreadGuard domainGuard) {
        this.domain = domain;
        this.info = domain.info();
        this.domainGuard = domainGuard;
        this.works = new DeferredWork(domain);
    }

    /** Whether the provider makes each queue, together with all objects used with it, a domain of its own. */
    boolean areDomains() {
        return domain.quirks.has(Fact.QUEUES_ARE_DOMAINS);
    }

    /** Whether polls may be critical calls, as long as no endpoint {@link #callsMayStop}. */
    boolean hasCriticalPolls() {
        return domain.quirks.has(Fact.CRITICAL_POLLS) && !reachesDevices();
    }

    /** As {@link #hasCriticalPolls()}, for counters: they poll whatever endpoints they are bound to. */
    boolean hasCriticalCounters() {
        return hasCriticalPolls() && !mayMessagesStopCalls();
    }

    /** Whether receives may be critical calls. A receive may never return if a longer message waits for it. */
    boolean hasCriticalReceives(Endpoint endpoint) {
        return domain.quirks.has(Fact.CRITICAL_POSTS) && !callsMayStop(endpoint) && !reachesDevices();
    }

    /**
     * Whether other posts may be critical calls. They may need a lock that another thread's poll holds, which does not
     * return.
     */
    boolean hasCriticalPosts(Endpoint endpoint) {
        return domain.quirks.has(Fact.CRITICAL_POSTS) && !reachesDevices()
                && (!callsMayStop(endpoint) || info.domain().threading() == ThreadingModel.DOMAIN);
    }

    /** Whether posts and polls may copy memory of a device, by its driver, for as long as that takes. */
    private boolean reachesDevices() {
        return (info.capabilityBits() & Capability.HMEM.bit()) != 0;
    }

    /**
     * Whether a poll or a receive of this endpoint may never return, because a message is longer than its receive. As a
     * critical call it would stop the JVM.
     */
    boolean callsMayStop(Endpoint endpoint) { return mayMessagesStopCalls() && endpoint.shortestReceive() == 0; }

    private boolean mayMessagesStopCalls() {
        long messages = info.capabilityBits() & (FabricConstants.FI_MSG | FabricConstants.FI_TAGGED);
        return messages != 0 && domain.quirks.has(Fact.LONG_MESSAGES_STOP_CALLS);
    }

    CompletionQueue open(CompletionQueueAttributes attributes) {
        requireOffered(attributes.waitObject());
        int size = attributes.size().orElse(Math.clamp(info.transmit().size(), MINIMUM_SIZE, MAXIMUM_DEFAULT_SIZE));
        // Leaves room for the completions of peers' writes with data.
        OpenResult out = DomainOps.fi_cq_open(domain.handle(), 2L * size, attributes.format().value(),
                attributes.waitObject().value(), attributes.signalingVector().orElse(-1));
        if (out.status() != 0 && !WaitObjectProbe.isOffered(domain.handle(), attributes.waitObject())) {
            WaitDescriptor.requireOffered(out.status(), "a completion queue", attributes.waitObject(), info.provider());
        }
        Status.check(out.status(), "fi_cq_open", info.provider());
        CompletionQueue queue = CompletionQueue.adopt(domain, out.handle(), size, attributes,
                guard(LockOrder.Rank.QUEUE));
        try {
            queues.add(queue);
            return queue;
        } catch (Throwable t) {
            queue.close();
            throw t;
        }
    }

    Counter open(CounterAttributes attributes) {
        requireOffered(attributes.waitObject());
        if (attributes.countsBytes()) { domain.quirks.require(Fact.BYTES_UNCOUNTED); }
        boolean fillsUp = attributes.waitObject() == WaitObject.FD
                && domain.quirks.has(Fact.COUNTER_DESCRIPTORS_FILL_UP);
        WaitObject used = fillsUp ? WaitObject.UNSPECIFIED : attributes.waitObject(); // a counter does not show it
        OpenResult out = DomainOps.fi_cntr_open(domain.handle(), used.value(), attributes.countsBytes());
        if (attributes.countsBytes() && (out.status() == -Errno.EINVAL || out.status() == -Errno.ENOSYS)) {
            throw new UnsupportedOperationException(
                    "counters of bytes are not offered by the provider " + info.provider());
        }
        WaitDescriptor.requireOffered(out.status(), "a counter", attributes.waitObject(), info.provider());
        Status.check(out.status(), "fi_cntr_open", info.provider());
        return Counter.adopt(domain, out.handle(), attributes.waitObject(), guard(LockOrder.Rank.COUNTER));
    }

    /** If each queue is a domain of its own, asking it for its wait descriptor crashes the process. */
    private void requireOffered(WaitObject object) {
        if (object != WaitObject.NONE) { domain.quirks.require(Fact.QUEUE_DOMAINS_LACK_WAIT_OBJECTS); }
    }

    private ThreadGuard guard(LockOrder.Rank rank) {
        return switch (info.domain().threading()) {
            case DOMAIN -> domainGuard;
            case COMPLETION -> ThreadGuard.ownedExclusive("COMPLETION", rank);
            default -> ThreadGuard.exclusive(rank);
        };
    }

    /**
     * Hands over a queue or a counter with {@link ThreadingModel#COMPLETION}, and with it those that share an endpoint
     * with it, directly or by way of others: an endpoint is one thread's.
     *
     * @throws IllegalStateException if the model is another one, or this is called in a handler
     * @throws WrongThreadException if one of them is another thread's; then nothing has changed
     */
    void handOver(Object first, Thread next) {
        Objects.requireNonNull(next);
        if (info.domain().threading() != ThreadingModel.COMPLETION) {
            throw new IllegalStateException(first + " is of a domain with ThreadingModel." + info.domain().threading()
                    + ", which gives it to no thread by itself: with DOMAIN hand over the domain");
        }
        requireNoHandler();
        Set<Object> found = new LinkedHashSet<>(List.of(first));
        for (List<Object> fresh = List.of(first); !fresh.isEmpty();) {
            fresh = fresh.stream().flatMap(DomainQueues::neighbours).distinct().filter(found::add).toList();
        }
        List<ThreadGuard> guards = found.stream().map(DomainQueues::guardOf).toList();
        guards.forEach(guard -> guard.requireOwner());
        guards.forEach(guard -> guard.handOver(next));
    }

    private static ThreadGuard guardOf(Object object) {
        return object instanceof CompletionQueue queue ? queue.guard : ((Counter) object).guard;
    }

    /** The queues and counters of the endpoints of a queue or counter. */
    private static Stream<Object> neighbours(Object object) {
        Stream<Endpoint> endpoints = object instanceof CompletionQueue queue
                ? queue.endpoints().all(Endpoint.class)
                : ((Counter) object).endpoints();
        return endpoints.flatMap(endpoint -> Stream.concat(endpoint.bindings.queues().stream(),
                endpoint.bindings.counters.all().stream()));
    }

    /** @throws IllegalStateException in a handler, whose poll goes on afterwards */
    static void requireNoHandler() {
        boolean isInside = StackWalker.getInstance().walk(
                frames -> frames.anyMatch(frame -> frame.getClassName().equals(CompletionReader.class.getName())));
        if (isInside) {
            throw new IllegalStateException(
                    "a handler of completions cannot hand over: do it when the poll has returned");
        }
    }

    synchronized void forget(Object child) {
        queues.remove(child);
        if (child == progressThread) { progressThread = null; }
    }

    synchronized ProgressThread startProgress(Waiting pauses) {
        ThreadingModel threading = info.domain().threading();
        if (threading != ThreadingModel.SAFE) {
            throw new IllegalStateException("a progress thread needs ThreadingModel.SAFE, but " + domain + " has "
                    + threading + ": request SAFE, or poll");
        }
        if (progressThread != null) { throw new IllegalStateException(domain + " already has " + progressThread); }
        progressThread = new ProgressThread(domain, pauses, this::progress);
        return progressThread;
    }

    List<CompletionQueue> all() { return List.copyOf(queues); }

    int inFlight(MemoryRegion region) {
        return queues.stream().mapToInt(queue -> queue.inFlight(region)).sum() + works.inFlight(region)
                + domain.regions.holders(region);
    }

    /**
     * Makes progress on every queue that this thread may use. If one thread has both ends of a transfer, an end without
     * room may depend on the other end's progress. Returns whether a completion was found.
     *
     * @throws FabricException that of the first queue that failed; the others have made progress
     */
    boolean progress() {
        boolean found = false;
        FabricException failure = null;
        for (CompletionQueue queue : queues) {
            try {
                found |= queue.guard.admits(Thread.currentThread()) && queue.progressIfOpen();
            } catch (FabricException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) { throw failure; }
        return found;
    }

    /** Whether a progress thread of this library serves them. */
    boolean isServed() { return progressThread != null; }

    /** Whether this thread may make progress on all of them. */
    boolean isForThisThread() {
        return queues.stream().allMatch(queue -> queue.guard.admits(Thread.currentThread()));
    }

    /** As {@link #progress}, of queues that no other thread is in: that one makes progress, or hangs. */
    void progressFree() {
        for (CompletionQueue queue : queues) {
            if (queue.guard.admits(Thread.currentThread()) && queue.guard.isFree()) { queue.progressIfOpen(); }
        }
    }

    /** As {@link #progress}, of queues that must all be this thread's. Returns false if the buffer of one is full. */
    boolean progressAll() {
        queues.forEach(queue -> queue.guard.checkThread());
        boolean isAnyFull = queues.stream().anyMatch(CompletionQueue::isBufferFull);
        progress();
        return !isAnyFull;
    }

    /** Waits for posts in progress; later posts see what the caller changed before. */
    void awaitPosts() {
        queues.forEach(queue -> queue.guard.enterFromAnyThread().exit());
    }

    /**
     * {@return the result of an action inside the fabric's lock, while no thread uses the endpoint, its vector, or
     * another endpoint of that vector} A provider that learns of a new peer visits all endpoints of the vector, even
     * one that is only partly enabled.
     */
    <R> R insideGuards(EndpointBindings endpoint, Supplier<R> action) {
        synchronized (domain) {
            assert LockOrder.taken(LockOrder.Rank.DOMAIN, domain);
            return locked(endpoint.vector(), () -> endpoint.vector().insideGuards(endpoint, action));
        }
    }

    /**
     * {@return the result of a change of a vector} A fabric makes one change at a time, since a change may enter the
     * guards of many queues.
     */
    <R> R locked(AddressVector vector, Supplier<R> change) {
        return domain.fabric().lock.locked(() -> {
            synchronized (vector) {
                assert LockOrder.taken(LockOrder.Rank.VECTOR, vector);
                return change.get();
            }
        });
    }

    void locked(AddressVector vector, Runnable change) {
        locked(vector, () -> {
            change.run();
            return null;
        });
    }
}
