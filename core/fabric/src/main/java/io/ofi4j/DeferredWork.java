package io.ofi4j;

import io.ofi4j.DeferredOperation.State;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.engine.AtomicLimits;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Operations that wait in the provider until a counter reaches a threshold, and then start without the program;
 * fi_trigger(3). Returned by {@link Domain#deferredWork}. It needs {@link Capability#TRIGGER}, which few providers
 * have.
 *
 * <pre>{@code
 * // when two messages have come, send one on, and count it
 * domain.deferredWork().when(arrived, 2).send(message, sent, token);
 * }</pre>
 *
 * <p><b>Completions.</b> An operation that succeeds adds one to its completion counter and gives no completion to a
 * queue. An operation that fails adds nothing: its error comes to the endpoint's queue, with its token. Operations that
 * wait for its count go on waiting. Poll for errors.
 *
 * <p><b>Ownership.</b> The prepared operation is copied: it may be changed, posted or dropped at once. The regions are
 * in use until the operation has ended. A counter cannot be closed before that. An endpoint cannot be closed while one
 * of its operations waits for its counter: {@code close} throws IllegalStateException, which names the operations. Have
 * the counter reach the threshold, or {@link DeferredOperation#cancel cancel} the operation where the provider can.
 * Closing an endpoint waits two seconds for operations in flight. Those that have not ended then, such as a receive
 * without a message, come back with their token and {@code ECANCELED} (125), as other operations do.
 *
 * <p><b>Threads.</b> Any thread that may use the endpoint may queue. A prepared operation belongs to the thread that
 * made it. Queueing allocates.
 */
public final class DeferredWork {
    private static final String CALL = "fi_control(FI_QUEUE_WORK)";
    /** Keeps reachable what libfabric refers to, even if the program drops it. */
    private static final Set<DeferredOperation> REFERENCED = ConcurrentHashMap.newKeySet();

    private final Domain domain;
    /**
     * The operations that have not ended. Its monitor is taken last: inside guards and the domain's monitor, and
     * neither of them is taken inside it.
     */
    private final Set<DeferredOperation> queued = new LinkedHashSet<>();
    /** Why high thresholds, and operations that would never end, are refused, or null. */
    private final String highThresholdRefusal;
    private final String nestedLockRefusal;
    /** When this number of operations is queued, the next {@link #add} first removes those that have ended. */
    private int cleanupSize = 64;

    DeferredWork(Domain domain) {
        this.domain = domain;
        this.highThresholdRefusal = domain.quirks.refusal(Fact.COUNTERS_HAVE_32_BITS);
        this.nestedLockRefusal = domain.quirks.refusal(Fact.DEFERRED_WORK_STARTS_INSIDE_LOCKS);
    }

    /** @throws UnsupportedOperationException if these capabilities of the opened object lack TRIGGER */
    DeferredWork requireOffered(Object opened, long capabilities) {
        if ((capabilities & Capability.TRIGGER.bit()) == 0) {
            throw new UnsupportedOperationException(
                    CALL + " is not offered by the provider " + domain.info().provider() + " here: " + opened
                            + " was opened without Capability.TRIGGER, for which FabricHints.capabilities asks");
        }
        return this;
    }

    /**
     * {@return a queue of operations that start once a counter has reached a threshold, or at once if it has} It may be
     * used any number of times.
     *
     * @param counter a counter of this domain
     * @param threshold 0 or more
     * @throws IllegalArgumentException if the threshold is below 0 or more than the provider counts, or the counter is
     *         of another domain
     * @throws IllegalStateException if the counter is closed
     * @throws WrongThreadException where the threading model gives the domain to another thread
     */
    public When when(Counter counter, long threshold) {
        requireCounter(counter);
        long limit = highThresholdRefusal == null ? Long.MAX_VALUE : Integer.MAX_VALUE;
        if (threshold < 0 || threshold > limit) {
            throw new IllegalArgumentException("a threshold is 0 to " + limit + " here, not " + threshold
                    + (threshold < 0 ? "" : ": " + highThresholdRefusal));
        }
        return new When(counter, threshold);
    }

    private void requireCounter(Counter counter) {
        if (counter.domain() != domain) {
            throw new IllegalArgumentException(counter + " is of another domain than the deferred work");
        }
        domain.checkThread();
        counter.requireOpen();
    }

    /**
     * Queues operations for one counter and one threshold; FI_QUEUE_WORK of fi_control, fi_trigger(3). Each method
     * takes a prepared operation, the counter that counts its success, and the token of its error. It makes progress
     * until the provider accepts the operation.
     *
     * <p><b>Errors.</b> Each method throws what the posting method of the prepared operation throws. In addition, it
     * throws IllegalArgumentException if the endpoint or the completion counter is of another domain, or the flags have
     * INJECT; IllegalStateException if a counter is closed; WrongThreadException where the threading model gives the
     * domain to another thread; UnsupportedOperationException if the endpoint was opened without
     * {@link Capability#TRIGGER}, or the provider lacks the operation or would hang. A provider would hang if it starts
     * operations inside the locks of what caused them: there, a counter of sends must not start a transmit of the same
     * endpoint, a counter of receives must not start a receive of it, and no change of a counter may lead back to that
     * counter.
     */
    public final class When {
        final Counter trigger;
        final long threshold;

        private When(Counter trigger, long threshold) {
            this.trigger = trigger;
            this.threshold = threshold;
        }

        DeferredWork list() { return DeferredWork.this; }

        /** Queues a send, with a tag if {@link Tagged#prepare} made it; FI_OP_SEND, FI_OP_TSEND. */
        public DeferredOperation send(PreparedMessage prepared, Counter completion, long token) {
            return message(PreparedMessage.Call.SEND, prepared, completion, token);
        }

        /** Queues a receive, with a tag if {@link Tagged#prepare} made it; FI_OP_RECV, FI_OP_TRECV. */
        public DeferredOperation receive(PreparedMessage prepared, Counter completion, long token) {
            return message(PreparedMessage.Call.RECEIVE, prepared, completion, token);
        }

        private DeferredOperation message(PreparedMessage.Call call, PreparedMessage prepared, Counter completion,
                long token) {
            Endpoint endpoint = requireUsable(prepared.endpoint(), prepared.flags, completion);
            prepared.requireSuits(call);
            return queue(new DeferredOperation(this, call.operation, call.isReceive, endpoint, completion, token,
                    DeferredWorkStruct.of(call.isReceive, endpoint.handle, prepared.struct, prepared.flags),
                    prepared.regionsInUse(), prepared.peer), () -> prepared.requirePostable(call));
        }

        /** Queues a write; FI_OP_WRITE. */
        public DeferredOperation write(PreparedRma prepared, Counter completion, long token) {
            return rma(PreparedRma.Transfer.WRITE, prepared, completion, token);
        }

        /** Queues a read; FI_OP_READ. */
        public DeferredOperation read(PreparedRma prepared, Counter completion, long token) {
            return rma(PreparedRma.Transfer.READ, prepared, completion, token);
        }

        private DeferredOperation rma(PreparedRma.Transfer transfer, PreparedRma prepared, Counter completion,
                long token) {
            Endpoint endpoint = requireUsable(prepared.endpoint(), prepared.flags, completion);
            prepared.requireSuits(transfer);
            return queue(
                    new DeferredOperation(this, transfer.call, false, endpoint, completion, token,
                            DeferredWorkStruct.of(transfer == PreparedRma.Transfer.READ, endpoint.handle,
                                    prepared.struct, prepared.flags),
                            prepared.regionsInUse(), prepared.peer),
                    prepared::requireOpen);
        }

        /** Queues an atomic operation; FI_OP_ATOMIC. */
        public DeferredOperation execute(AtomicOperation operation, PreparedAtomic prepared, Counter completion,
                long token) {
            return atomic(AtomicForm.EXECUTE, operation, prepared, completion, token);
        }

        /** As {@link #execute}, and brings the previous values of the target; FI_OP_FETCH_ATOMIC. */
        public DeferredOperation fetch(AtomicOperation operation, PreparedAtomic prepared, Counter completion,
                long token) {
            return atomic(AtomicForm.FETCH, operation, prepared, completion, token);
        }

        /** As {@link #fetch}, with comparands; FI_OP_COMPARE_ATOMIC. */
        public DeferredOperation compare(AtomicOperation operation, PreparedAtomic prepared, Counter completion,
                long token) {
            return atomic(AtomicForm.COMPARE, operation, prepared, completion, token);
        }

        private DeferredOperation atomic(AtomicForm form, AtomicOperation operation, PreparedAtomic prepared,
                Counter completion, long token) {
            Endpoint endpoint = requireUsable(prepared.endpoint(), prepared.flags, completion);
            return queue(
                    new DeferredOperation(this, AtomicLimits.call(form, true), false, endpoint, completion, token,
                            prepared.deferred(form, operation), prepared.regionsInUse(form), prepared.peer),
                    () -> prepared.requireOpen(form));
        }

        /**
         * Queues a change of a counter, which sets it; FI_OP_CNTR_SET.
         *
         * @param target a counter of this domain
         * @param value 0 or more
         */
        public DeferredOperation set(Counter target, long value) {
            return count("fi_cntr_set", true, target, value);
        }

        /** As {@link #set}, but adds to the counter; FI_OP_CNTR_ADD. */
        public DeferredOperation add(Counter target, long value) {
            return count("fi_cntr_add", false, target, value);
        }

        private DeferredOperation count(String call, boolean sets, Counter target, long value) {
            if (value < 0) { throw new IllegalArgumentException("a count must be 0 or more, not " + value); }
            requireCounter(trigger);
            requireCounter(target);
            return queue(
                    new DeferredOperation(this, call, false, null, target, 0,
                            DeferredWorkStruct.count(sets, target.handle(), value), new MemoryRegion[0], null),
                    () -> {});
        }

        private Endpoint requireUsable(Endpoint endpoint, long flags, Counter completion) {
            if (endpoint.domain != domain) {
                throw new IllegalArgumentException("the prepared operation is of " + endpoint
                        + ", which is of another domain than the deferred work");
            }
            requireOffered(endpoint, endpoint.info().capabilityBits());
            if ((flags & OperationFlag.INJECT.bit()) != 0) {
                throw new IllegalArgumentException("deferred work takes no INJECT: its bytes are read when it starts");
            }
            endpoint.requireEnabled();
            requireCounter(trigger);
            requireCounter(completion);
            return endpoint;
        }

        @Override
        public String toString() { return "once " + trigger + " has reached " + threshold; }
    }

    /** Queues an operation. The checks are made inside the guard of its queue. */
    private DeferredOperation queue(DeferredOperation one, Runnable checks) {
        StackRoom.require();
        one.counted.bind(one); // from here on the domain stays open
        try {
            one.trigger().bind(one);
            prepare(one);
            if (one.endpoint == null) {
                one.trigger().locked(() -> tryQueue(one, checks));
            } else {
                one.queue.dropSilent(); // polls that find nothing look for operations that have ended
                check(one.countingStruct.queue(domain.handle()));
                if (!tryQueueInside(one, checks)) {
                    one.endpoint.awaitRoom(one.queue, CALL, one.peer, () -> tryQueueInside(one, checks));
                }
            }
        } catch (Throwable t) {
            end(one, State.CANCELED);
            throw t;
        }
        return one;
    }

    /** Makes the counter that says when the operation has ended. */
    private void prepare(DeferredOperation one) {
        OpenResult out = DomainOps.fi_cntr_open(domain.handle(), WaitObject.NONE.value());
        Status.check(out.status(), "fi_cntr_open", domain.info().provider());
        one.completionCounter = out.handle();
        REFERENCED.add(one);
        boolean isTransfer = one.endpoint != null;
        one.completionOps = new CntrOps(one.completionCounter, false);
        one.struct.when(one.trigger().handle(), one.threshold(), isTransfer ? one.completionCounter : null);
        one.countingStruct = isTransfer
                ? DeferredWorkStruct.count(false, one.counted.handle(), 1).when(one.completionCounter, 1, null)
                : DeferredWorkStruct.count(false, one.completionCounter, 1).when(one.trigger().handle(),
                        one.threshold(), null);
    }

    private boolean tryQueueInside(DeferredOperation one, Runnable checks) {
        ThreadGuard guard = one.queue.guard;
        boolean entered = ThreadGuard.enter(guard, guard.unlockedThread());
        try {
            return one.trigger().locked(() -> tryQueue(one, checks));
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** Called inside the guard of the trigger, so that no thread closes the trigger meanwhile. */
    private boolean tryQueue(DeferredOperation one, Runnable checks) {
        checks.run();
        one.trigger().requireOpen();
        add(one);
        int status = one.struct.queue(domain.handle());
        if (status == -Errno.EAGAIN) {
            remove(one);
            return false;
        }
        check(status);
        // Marks the end of the operation. If it cannot be queued, the operation counts as queued for ever.
        if (one.endpoint == null) { one.countingStruct.queue(domain.handle()); }
        return true;
    }

    private void check(int status) { Status.checkOffered(status, CALL, domain.info().provider()); }

    private synchronized void add(DeferredOperation one) {
        assert LockOrder.taken(LockOrder.Rank.WORK, this);
        requireTerminates(one);
        if (queued.size() >= cleanupSize) {
            endFinished();
            cleanupSize = Math.max(cleanupSize, 2 * queued.size());
        }
        queued.add(one);
        if (one.queue != null) { one.queue.contexts.addExternal(one.struct.context(), one.token); }
    }

    private synchronized void remove(DeferredOperation one) {
        queued.remove(one);
        if (one.queue != null) { one.queue.contexts.removeExternal(one.struct.context()); }
    }

    /**
     * @throws UnsupportedOperationException if the operation, together with the queued ones, could deadlock: the
     *         provider would start one while it holds a lock that this one needs
     */
    private void requireTerminates(DeferredOperation one) {
        if (nestedLockRefusal == null || !wouldHang(one)) { return; }
        endFinished();
        if (wouldHang(one)) { throw new UnsupportedOperationException(one + ": " + nestedLockRefusal); }
    }

    private boolean wouldHang(DeferredOperation added) {
        List<DeferredOperation.Step> steps = Stream.concat(queued.stream(), Stream.of(added))
                .flatMap(DeferredOperation::steps).distinct().toList();
        return steps.stream().filter(one -> one.held() != null)
                .anyMatch(one -> steps.stream().anyMatch(next -> one.held().equals(next.takes())
                        && reaches(steps, one.counted(), next.trigger(), new HashSet<>())));
    }

    /** Whether a change of the first counter leads, through queued changes of counters, to a change of the second. */
    private static boolean reaches(List<DeferredOperation.Step> steps, Counter from, Counter to, Set<Counter> seen) {
        return from == to || seen.add(from) && steps.stream()
                .anyMatch(one -> one.isChange() && one.trigger() == from && reaches(steps, one.counted(), to, seen));
    }

    /** Removes the operations that the provider has ended. */
    synchronized void endFinished() {
        assert LockOrder.taken(LockOrder.Rank.WORK, this);
        for (DeferredOperation one : List.copyOf(queued)) {
            if (one.completionOps.fi_cntr_read() != 0) {
                end(one, State.DONE);
            } else if (one.queue != null && !one.queue.contexts.isExternal(one.struct.context())) {
                end(one, State.FAILED);
            }
        }
    }

    /**
     * Removes an operation that the provider no longer refers to. The counter is closed first, because fi_close waits
     * for threads inside the counter.
     */
    private synchronized void end(DeferredOperation one, State outcome) {
        if (one.state != State.QUEUED) { return; }
        one.state = outcome;
        if (one.completionCounter != null) {
            if (outcome != State.DONE) { one.countingStruct.cancel(domain.handle()); }
            FidOps.fi_close(one.completionCounter);
        }
        remove(one);
        one.counted.unbind(one);
        one.trigger().unbind(one);
        REFERENCED.remove(one);
    }

    synchronized State stateOf(DeferredOperation one) {
        if (one.state == State.QUEUED) {
            domain.checkThread();
            endFinished();
        }
        return one.state;
    }

    boolean cancel(DeferredOperation one) {
        if (stateOf(one) != State.QUEUED) { return false; }
        if (!one.isReceive) { return cancelQueued(one); }
        try (var _ = one.queue.guard.enterFromAnyThread()) { // no close frees the endpoint meanwhile
            return cancelQueued(one);
        }
    }

    /** A receive is canceled inside the guard of its queue. */
    private synchronized boolean cancelQueued(DeferredOperation one) {
        assert LockOrder.taken(LockOrder.Rank.WORK, this);
        if (stateOf(one) != State.QUEUED) { return false; }
        if (one.isReceive && !one.isWaiting()) { // it is canceled like any other receive
            one.endpoint.lifeCycle.cancelReceive(one.struct.context());
            return false;
        }
        int status = one.struct.cancel(domain.handle());
        if (status == -Errno.ENOENT) { return false; } // it is in flight
        Status.checkOffered(status, "fi_control(FI_CANCEL_WORK)", domain.info().provider());
        end(one, State.CANCELED);
        return true;
    }

    synchronized int inFlight(MemoryRegion region) {
        if (queued.isEmpty()) { return 0; }
        endFinished();
        return (int) queued.stream()
                .filter(one -> Arrays.stream(one.regions).anyMatch(its -> its.number == region.number)).count();
    }

    /**
     * Waits for operations of an endpoint that are in flight, before it closes.
     *
     * @throws IllegalStateException as {@link #requireNoneWaiting}
     */
    void awaitNone(Endpoint closing, Duration timeout) {
        Waiting.YIELD.tryUntil(() -> {
            boolean isDone = areDone(closing) || of(closing).stream().anyMatch(DeferredOperation::isWaiting);
            if (!isDone) { domain.queues.progress(); }
            return isDone;
        }, timeout);
        requireNoneWaiting(closing);
    }

    /** Whether an endpoint has none but receives, which its close cancels. */
    boolean areDone(Endpoint closing) {
        return of(closing).stream().allMatch(one -> one.isReceive);
    }

    /**
     * @throws IllegalStateException naming the operations that wait for their counters and would start on a closed
     *         endpoint
     */
    void requireNoneWaiting(Endpoint closing) {
        List<DeferredOperation> waiting = of(closing).stream().filter(DeferredOperation::isWaiting).toList();
        if (!waiting.isEmpty()) {
            throw new IllegalStateException(closing + " has deferred operations that wait for their counters: "
                    + waiting.stream().map(Object::toString).collect(Collectors.joining(", "))
                    + ". Let the counters reach the thresholds, or cancel the operations, before the close");
        }
    }

    /** Reports the operations in flight of an endpoint that the provider has closed. */
    void closed(Endpoint endpoint) {
        for (DeferredOperation one : of(endpoint)) {
            end(one, State.CANCELED);
            one.queue.failed(new CompletionError(one.token, true, 0, 0, 0, 0, 0, 0, Errno.ECANCELED, 0,
                    one + ": the endpoint was closed", new byte[0], domain.info().provider()));
            endpoint.canceled++;
        }
    }

    /** {@return the operations queued by an endpoint or by an alias of it} */
    private synchronized List<DeferredOperation> of(Endpoint endpoint) {
        if (queued.isEmpty()) { return List.of(); }
        domain.checkThread();
        endFinished();
        return queued.stream()
                .filter(one -> one.endpoint == endpoint
                        || one.endpoint != null && endpoint.original == null && one.endpoint.number == endpoint.number)
                .toList();
    }

    @Override
    public String toString() { return "DeferredWork of " + domain; }
}
