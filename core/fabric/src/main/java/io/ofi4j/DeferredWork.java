package io.ofi4j;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.internal.engine.AtomicLimits.Form;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.Handle;

/**
 * Operations that wait at the provider until a counter reaches a threshold, and start without the program; fi_trigger(3). Returned by
 * {@link Domain#deferredWork}; needs {@link Capability#TRIGGER}, which of the software providers {@code sockets} has.
 *
 * <pre>{@code
 * // when two messages have come, send one on, and count it
 * domain.deferredWork().when(arrived, 2).send(message, sent, token);
 * }</pre>
 *
 * <p><b>Completions.</b> A work that succeeds adds one to its completion counter and gives no entry to a queue. One that fails adds
 * nothing: its error comes to the endpoint's queue, with its token; what waits for its count waits on. Poll for errors.
 *
 * <p><b>Ownership.</b> Everything is copied: the message may be changed, posted or dropped at once. The regions are in use until the work
 * has ended, and close then; the counters and the endpoint's domain cannot be closed before. <b>Closing the endpoint</b> cancels its works,
 * each of which comes back with its token and {@code ECANCELED}. Where the provider cannot cancel, as {@code sockets}, a counter that one
 * still waits for is spent: all that waits for it is canceled, and its methods throw IllegalStateException. Works of counters end with the
 * counter that they wait for.
 *
 * <p>Any thread that may use the endpoint may queue, except that a message belongs to the thread that made it. Queueing allocates.
 */
public final class DeferredWork {
    private final Domain domain;
    private final WorkList list;

    /** What has become of a work. */
    public enum State {
        /** It waits for its counter, or is under way. */
        QUEUED,
        /** It has succeeded. */
        DONE,
        /** It has failed, and its error was polled. */
        FAILED,
        /** It did not end before its endpoint or the counter was closed, or was canceled. */
        CANCELED
    }

    DeferredWork(Domain domain, WorkList list) {
        this.domain = domain;
        this.list = list;
    }

    /**
     * {@return what can be queued to start once a counter has reached a threshold; at once if it has} It may be used again and again.
     *
     * @param threshold 0 or more
     * @throws IllegalArgumentException if the threshold is below 0 or more than the provider counts, or the counter is of another domain
     * @throws IllegalStateException if the counter is closed or spent
     * @throws WrongThreadException where the threading model gives the domain to another thread
     */
    public When when(Counter counter, long threshold) {
        list.requireCounter(counter);
        list.requireThreshold(threshold);
        return new When(counter, threshold);
    }

    /**
     * Queues works for one counter and one threshold; FI_QUEUE_WORK of fi_control(3). Each method takes a prepared operation, the counter
     * that counts its success, and the token of its error. It makes progress until the provider accepts the work.
     *
     * <p>All throw what the posting method of the message throws; IllegalArgumentException also if its endpoint or the completion counter
     * is of another domain, or its flags have INJECT; IllegalStateException also if a counter is closed or spent;
     * UnsupportedOperationException if the endpoint was opened without {@link Capability#TRIGGER}, the provider lacks the operation, or would
     * hang: on {@code sockets} what counts a send must not start a transmit of the same endpoint, what counts a receive no receive of it,
     * and no change of a counter may lead back to it;
     * WrongThreadException where the threading model gives the domain to another thread.
     */
    public final class When {
        private final Counter trigger;
        private final long threshold;

        private When(Counter trigger, long threshold) {
            this.trigger = trigger;
            this.threshold = threshold;
        }

        /** Sends a message, with a tag if it was made by {@link Tagged#message}; FI_OP_SEND, FI_OP_TSEND. */
        public Work send(PreparedMessage message, Counter completion, long token) {
            return message(PreparedMessage.Call.SEND, message, completion, token);
        }

        /** Posts a receive, as {@link #send}; FI_OP_RECV, FI_OP_TRECV. */
        public Work receive(PreparedMessage message, Counter completion, long token) {
            return message(PreparedMessage.Call.RECEIVE, message, completion, token);
        }

        private Work message(PreparedMessage.Call call, PreparedMessage message, Counter completion, long token) {
            Endpoint endpoint = list.requireUsable(message.endpoint(), message.flags);
            message.requireSuits(call);
            Work work = work(call.operation, endpoint, completion, token).using(message.regionsInUse(), message.peer);
            work.isTransmit = !call.isReceive;
            work.endsInside = true;
            if (call.isReceive) { work.queue = endpoint.bindings.receiveQueue(); }
            work.struct = DeferredWorkStruct.of(call.isReceive, endpoint.handle, message.struct, message.flags);
            return list.queue(work, () -> message.requirePostable(call));
        }

        /** Writes; FI_OP_WRITE. */
        public Work write(PreparedRma message, Counter completion, long token) {
            return rma(PreparedRma.Call.WRITE, message, completion, token);
        }

        /** Reads; FI_OP_READ. */
        public Work read(PreparedRma message, Counter completion, long token) {
            return rma(PreparedRma.Call.READ, message, completion, token);
        }

        private Work rma(PreparedRma.Call call, PreparedRma message, Counter completion, long token) {
            Endpoint endpoint = list.requireUsable(message.endpoint(), message.flags);
            message.requireSuits(call);
            Work work = work(call.operation, endpoint, completion, token).using(message.regionsInUse(), message.peer);
            work.struct = DeferredWorkStruct.of(call.isRead, endpoint.handle, message.struct, message.flags);
            return list.queue(work, message::requireOpen);
        }

        /** Changes the target; FI_OP_ATOMIC. */
        public Work execute(AtomicOperation operation, PreparedAtomic message, Counter completion, long token) {
            return atomic(Form.BASE, operation, message, completion, token);
        }

        /** As {@link #execute}, and also brings the previous values; FI_OP_FETCH_ATOMIC. */
        public Work fetch(AtomicOperation operation, PreparedAtomic message, Counter completion, long token) {
            return atomic(Form.FETCH, operation, message, completion, token);
        }

        /** As {@link #fetch}, and also takes comparands; FI_OP_COMPARE_ATOMIC. */
        public Work compare(AtomicOperation operation, PreparedAtomic message, Counter completion, long token) {
            return atomic(Form.COMPARE, operation, message, completion, token);
        }

        private Work atomic(Form form, AtomicOperation operation, PreparedAtomic message, Counter completion,
                long token) {
            Endpoint endpoint = list.requireUsable(message.endpoint(), message.flags);
            DeferredWorkStruct struct = message.deferred(form, operation);
            Work work = work(form.call(true), endpoint, completion, token).using(message.regionsInUse(form),
                    message.peer);
            work.struct = struct;
            return list.queue(work, () -> message.requireOpen(form));
        }

        /**
         * Sets a counter; FI_OP_CNTR_SET.
         *
         * @param target a counter of this domain
         * @param value 0 or more
         */
        public Work set(Counter target, long value) { return count(true, target, value); }

        /** As {@link #set}, but adds to the counter; FI_OP_CNTR_ADD. */
        public Work add(Counter target, long value) {
            return count(false, target, value);
        }

        private Work count(boolean sets, Counter target, long value) {
            if (value < 0) { throw new IllegalArgumentException("a count must be 0 or more, not " + value); }
            Work work = work(sets ? "fi_cntr_set" : "fi_cntr_add", null, target, 0);
            work.struct = DeferredWorkStruct.count(sets, target.handle(), value);
            return list.queue(work, () -> {});
        }

        private Work work(String operation, Endpoint endpoint, Counter counted, long token) {
            list.requireCounter(trigger);
            list.requireCounter(counted);
            Work work = new Work(list, operation, endpoint, trigger, threshold, counted, token);
            work.isTransmit = endpoint != null;
            work.queue = endpoint == null ? null : endpoint.bindings.transmitQueue();
            return work;
        }

        @Override
        public String toString() { return "once " + trigger + " has reached " + threshold; }
    }

    /** A queued work. It need not be kept. */
    public static final class Work {
        final WorkList list;
        final String operation;
        /** Null if it changes a counter. */
        final Endpoint endpoint;
        final Counter trigger;
        final long threshold;
        /** What counts its success, or what it changes. */
        final Counter counted;
        final long token;
        MemoryRegion[] regions = {};
        Peer peer;
        boolean isTransmit;
        /** Whether the provider may count it while it holds what starting its like takes. */
        boolean endsInside;
        /** Where its error comes to, or null. */
        CompletionQueue queue;
        DeferredWorkStruct struct;
        /**
         * Says when this has ended: a counter of its own, which a transfer adds one to, and from which another work adds to the program's
         * counter. A work that changes a counter has another behind it, which adds one to this.
         */
        Handle ended;
        CntrOps endedOps;
        DeferredWorkStruct second;
        State state = State.QUEUED;

        private Work(WorkList list, String operation, Endpoint endpoint, Counter trigger, long threshold,
                Counter counted, long token) {
            this.list = list;
            this.operation = operation;
            this.endpoint = endpoint;
            this.trigger = trigger;
            this.threshold = threshold;
            this.counted = counted;
            this.token = token;
        }

        private Work using(MemoryRegion[] its, Peer whom) {
            regions = its;
            peer = whom;
            return this;
        }

        /**
         * {@return what has become of it} It works after close.
         *
         * @throws WrongThreadException while it is queued, where the threading model gives the domain to another thread
         */
        public State state() { return list.stateOf(this); }

        /**
         * Takes it back; FI_CANCEL_WORK of fi_control(3). One that is under way may end as if this was not called. Nothing happens if it
         * has ended.
         *
         * @return whether it was canceled, and has no error to be polled
         * @throws UnsupportedOperationException if the provider cannot, as {@code sockets}: close its endpoint, or the counter
         * @throws FabricException if the provider reports an error
         * @throws WrongThreadException as {@link #state}
         */
        public boolean cancel() { return list.cancel(this); }

        @Override
        public String toString() {
            return "deferred " + operation + (endpoint == null ? "" : " of " + endpoint) + " for " + threshold + " on "
                    + trigger;
        }
    }

    @Override
    public String toString() { return "DeferredWork of " + domain; }
}
