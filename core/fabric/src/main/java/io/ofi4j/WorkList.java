package io.ofi4j;

import io.ofi4j.DeferredWork.State;
import io.ofi4j.DeferredWork.Work;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Opened;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The deferred work of a domain that has not ended. Its monitor is taken last: inside guards and the domain's monitor, and none of them
 * inside it.
 */
final class WorkList {
    private static final String CALL = "fi_control(FI_QUEUE_WORK)";
    /** What libfabric refers to, whatever the program forgets. */
    private static final Set<Work> HELD = ConcurrentHashMap.newKeySet();
    /** The most that a provider counts whose counters have 32 bits. */
    private static final long MOST = Integer.MAX_VALUE;

    private final Domain domain;
    private final Set<Work> works = new LinkedHashSet<>();
    private final Map<Edge, Integer> edges = new HashMap<>();
    private final boolean isOffered;
    /** Why high thresholds are refused, and work that would never end, or null. */
    private final String highThresholds;
    private final String nestedLocks;
    /** Of how many works the list is looked through next, so that works which have ended do not pile up. */
    private int full = 64;

    WorkList(Domain domain) {
        this.domain = domain;
        this.isOffered = isOffered(domain.info().capabilityBits());
        this.highThresholds = domain.quirks.refusal(Fact.COUNTERS_HAVE_32_BITS);
        this.nestedLocks = domain.quirks.refusal(Fact.DEFERRED_WORK_STARTS_INSIDE_LOCKS);
    }

    private static boolean isOffered(long capabilities) { return (capabilities & Capability.TRIGGER.bit()) != 0; }

    DeferredWork open() {
        if (!isOffered) { throw notOffered(domain); }
        return new DeferredWork(domain, this);
    }

    private UnsupportedOperationException notOffered(Object opened) {
        return new UnsupportedOperationException(
                CALL + " is not offered by the provider " + domain.info().provider() + " here: " + opened
                        + " was opened without Capability.TRIGGER, for which FabricHints.capabilities asks");
    }

    void requireThreshold(long threshold) {
        long limit = highThresholds == null ? Long.MAX_VALUE : MOST;
        if (threshold < 0 || threshold > limit) {
            throw new IllegalArgumentException("a threshold is 0 to " + limit + " here, not " + threshold
                    + (threshold < 0 ? "" : ": " + highThresholds));
        }
    }

    void requireCounter(Counter counter) {
        if (counter.domain() != domain) {
            throw new IllegalArgumentException(counter + " is of another domain than the deferred work");
        }
        domain.checkThread();
        counter.requireUsable();
    }

    Endpoint requireUsable(Endpoint endpoint, long flags) {
        if (endpoint.domain != domain) {
            throw new IllegalArgumentException(
                    "the message is of " + endpoint + ", which is of another domain than the deferred work");
        }
        if (!isOffered(endpoint.info().capabilityBits())) { throw notOffered(endpoint); }
        if ((flags & OperationFlag.INJECT.bit()) != 0) {
            throw new IllegalArgumentException("deferred work takes no INJECT: its bytes are read when it starts");
        }
        endpoint.requireEnabled();
        return endpoint;
    }

    /** Queues a work whose struct is there. The checks are made inside the guard of its queue. */
    Work queue(Work work, Runnable checks) {
        work.counted.bind(work); // from now on the domain is open
        try {
            prepare(work);
            if (work.endpoint == null) {
                work.trigger.undisturbed(() -> tryQueue(work, checks));
            } else {
                work.trigger.bind(work);
                work.queue.dropSilent(); // polls that find nothing see what has ended
                check(work.second.queue(domain.handle()));
                if (!tryQueueInside(work, checks)) {
                    PostRetry.until(work.endpoint, work.queue, CALL, work.peer, () -> tryQueueInside(work, checks));
                }
            }
        } catch (Throwable t) {
            end(work, State.CANCELED);
            throw t;
        }
        return work;
    }

    /** Makes what says that it has ended. */
    private void prepare(Work work) {
        Opened out = DomainOps.fi_cntr_open(domain.handle(), WaitObject.NONE.value());
        Status.check(out.status(), "fi_cntr_open", domain.info().provider());
        HELD.add(work);
        boolean isTransfer = work.endpoint != null;
        Handle ended = out.handle();
        work.struct.when(work.trigger.handle(), work.threshold, isTransfer ? ended : null);
        work.second = isTransfer
                ? DeferredWorkStruct.count(false, work.counted.handle(), 1).when(ended, 1, null)
                : DeferredWorkStruct.count(false, ended, 1).when(work.trigger.handle(), work.threshold, null);
        work.endedOps = new CntrOps(ended, false);
        work.ended = ended;
    }

    private boolean tryQueueInside(Work work, Runnable checks) {
        ThreadGuard guard = work.queue.guard;
        boolean entered = ThreadGuard.enter(guard, guard.unlocked());
        try {
            return work.trigger.undisturbed(() -> tryQueue(work, checks));
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** Inside the guard of its counter, so that nobody closes or spends that meanwhile. */
    private boolean tryQueue(Work work, Runnable checks) {
        checks.run();
        work.trigger.requireUsable();
        add(work);
        int status = work.struct.queue(domain.handle());
        if (status == -Errno.EAGAIN) {
            remove(work);
            return false;
        }
        check(status);
        // Starts behind it; if it does not, the work counts as queued until its counter is closed.
        if (work.endpoint == null) { work.second.queue(domain.handle()); }
        return true;
    }

    private void check(int status) { Status.checkOffered(status, CALL, domain.info().provider()); }

    private synchronized void add(Work work) {
        assert LockOrder.taken(LockOrder.Rank.WORK, this);
        requireEnds(work);
        if (works.size() >= full) {
            endDone();
            full = Math.max(full, 2 * works.size());
        }
        works.add(work);
        edges.merge(Edge.of(work), 1, Integer::sum);
        if (work.queue != null) { work.queue.contexts.outside(work.struct.context(), work.token); }
    }

    private synchronized void remove(Work work) {
        if (works.remove(work)) { edges.computeIfPresent(Edge.of(work), (edge, many) -> many == 1 ? null : many - 1); }
        if (work.queue != null) { work.queue.contexts.endOutside(work.struct.context()); }
    }

    /**
     * What one work is to the provider's locks: its counter lets it take one, and counts it inside another, or inside none. A direction of
     * an endpoint is a lock, and so is a counter.
     */
    private record Edge(Counter trigger, Object takes, Object inside, Counter counted) {
        static Edge of(Work work) {
            if (work.endpoint == null) { return new Edge(work.trigger, work.counted, work.trigger, work.counted); }
            Side side = new Side(work.endpoint.bindings.context(work.isTransmit), work.isTransmit);
            return new Edge(work.trigger, side, work.endsInside ? side : null, work.counted);
        }

        boolean isChange() { return takes == counted; }
    }

    private record Side(Object context, boolean transmits) {}

    /** Also sends and receives that are not deferred, if a counter of their endpoint counts them. */
    private static Stream<Edge> bound(Work work) {
        Counter counter = work.endpoint == null
                ? null
                : work.endpoint.bindings.counters.of(work.isTransmit ? CounterEvent.SEND : CounterEvent.RECEIVE);
        return counter == null ? Stream.of() : Stream.of(new Edge(null, null, Edge.of(work).takes, counter));
    }

    private void requireEnds(Work work) {
        if (nestedLocks == null || edges.containsKey(Edge.of(work)) || !hangsWith(work)) { return; }
        endDone();
        if (hangsWith(work)) { throw new UnsupportedOperationException(work + ": " + nestedLocks); }
    }

    private boolean hangsWith(Work added) {
        List<Edge> all = Stream.concat(Stream.concat(works.stream(), Stream.of(added)).flatMap(WorkList::bound),
                Stream.concat(edges.keySet().stream(), Stream.of(Edge.of(added)))).distinct().toList();
        return all.stream().filter(one -> one.inside != null).anyMatch(one -> all.stream().anyMatch(
                next -> one.inside.equals(next.takes) && leads(all, one.counted, next.trigger, new HashSet<>())));
    }

    private static boolean leads(List<Edge> edges, Counter from, Counter to, Set<Counter> seen) {
        return from == to || seen.add(from) && edges.stream()
                .anyMatch(one -> one.isChange() && one.trigger == from && leads(edges, one.counted, to, seen));
    }

    /** Ends what has ended at the provider. */
    synchronized void endDone() {
        assert LockOrder.taken(LockOrder.Rank.WORK, this);
        for (Work work : List.copyOf(works)) {
            if (work.endedOps.fi_cntr_read() != 0) {
                end(work, State.DONE);
            } else if (work.queue != null && !work.queue.contexts.isOutside(work.struct.context())) {
                end(work, State.FAILED);
            }
        }
    }

    /** The provider refers to it no more. Closing the counter first waits for who is inside. */
    private synchronized void end(Work work, State how) {
        if (work.state != State.QUEUED) { return; }
        work.state = how;
        if (work.ended != null) {
            if (how != State.DONE) { work.second.cancel(domain.handle()); }
            FidOps.fi_close(work.ended);
        }
        remove(work);
        work.counted.unbind(work);
        work.trigger.unbind(work);
        HELD.remove(work);
    }

    synchronized State stateOf(Work work) {
        if (work.state == State.QUEUED) {
            domain.checkThread();
            endDone();
        }
        return work.state;
    }

    synchronized boolean cancel(Work work) {
        if (stateOf(work) != State.QUEUED) { return false; }
        int status = work.struct.cancel(domain.handle());
        if (status == -Errno.ENOENT) { return false; } // it is under way
        Status.checkOffered(status, "fi_control(FI_CANCEL_WORK)", domain.info().provider());
        end(work, State.CANCELED);
        return true;
    }

    synchronized int inFlight(MemoryRegion region) {
        if (works.isEmpty()) { return 0; }
        endDone();
        return (int) works.stream()
                .filter(work -> Arrays.stream(work.regions).anyMatch(one -> one.number == region.number)).count();
    }

    /** How many works of an endpoint end by themselves, once none of them waits for its counter. */
    synchronized int transmitsInFlight(Endpoint endpoint) {
        endDone();
        return (int) works.stream().filter(work -> isOf(endpoint, work) && work.isTransmit).count();
    }

    /** Cancels what waits for a counter and would start on an endpoint that takes no operations any more. */
    void closing(Endpoint endpoint) {
        for (Counter trigger : triggersOf(endpoint)) {
            List<Work> lost = new ArrayList<>();
            trigger.undisturbed(() -> lost.addAll(cancelWaiting(endpoint, trigger)));
            report(lost, "its endpoint, or another whose work waited for the same counter, was closed");
        }
    }

    private synchronized Set<Counter> triggersOf(Endpoint endpoint) {
        endDone();
        return works.stream().filter(work -> work.endpoint == endpoint).map(work -> work.trigger)
                .collect(Collectors.toSet());
    }

    private synchronized List<Work> cancelWaiting(Endpoint endpoint, Counter trigger) {
        endDone();
        List<Work> waiting = works.stream().filter(work -> work.trigger == trigger).toList();
        List<Work> its = waiting.stream().filter(work -> work.endpoint == endpoint).toList();
        List<Work> lost = new ArrayList<>(
                its.stream().filter(work -> work.struct.cancel(domain.handle()) == 0).toList());
        if (highThresholds != null && lost.size() < its.size()
                && its.stream().anyMatch(work -> trigger.isBelow(work.threshold))) {
            long reached = trigger.spend();
            waiting.stream().filter(work -> work.threshold > reached).forEach(lost::add);
        }
        lost.forEach(work -> end(work, State.CANCELED));
        return lost;
    }

    /** Cancels what has not ended of an endpoint that the provider has closed. */
    void closed(Endpoint endpoint) {
        report(cancel(work -> isOf(endpoint, work)), "the endpoint was closed");
    }

    /** An alias has the number of its original. */
    private static boolean isOf(Endpoint endpoint, Work work) {
        return work.endpoint != null && work.endpoint.number == endpoint.number;
    }

    /** Cancels the changes of counters that wait for one that is closed. */
    void closed(Counter trigger) {
        cancel(work -> work.endpoint == null && work.trigger == trigger);
    }

    /** Takes changes of counters back, where the provider can, before their counter is closed. */
    synchronized void closing(Counter trigger) {
        works.stream().filter(work -> work.trigger == trigger).forEach(work -> work.struct.cancel(domain.handle()));
    }

    private synchronized List<Work> cancel(Predicate<Work> which) {
        endDone();
        List<Work> lost = works.stream().filter(which).toList();
        lost.forEach(work -> end(work, State.CANCELED));
        return lost;
    }

    private void report(List<Work> lost, String why) {
        for (Work work : lost) {
            if (work.queue != null) {
                work.queue.failed(new CompletionError(work.token, 0, 0, 0, 0, 0, 0, Errno.ECANCELED, 0,
                        work.operation + " was deferred: " + why, new byte[0], domain.info().provider()));
                work.endpoint.canceled++;
            }
        }
    }
}
