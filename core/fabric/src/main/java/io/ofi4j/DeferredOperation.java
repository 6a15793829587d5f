package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.Handle;
import java.util.stream.Stream;

/** A queued operation of {@link DeferredWork}. A program need not keep a reference to it. */
public final class DeferredOperation {
    private final DeferredWork.When when;
    private final String call;
    /** The endpoint; null if the operation changes a counter. */
    final Endpoint endpoint;
    /** The counter that counts its success, or that it changes. */
    final Counter counted;
    final long token;
    /** The queue that reports its error, or null. */
    final CompletionQueue queue;
    final boolean isReceive;
    final DeferredWorkStruct struct;
    final MemoryRegion[] regions;
    final Peer peer;
    /**
     * The provider's counter that tells whether this operation has ended. A transfer adds one to this counter, which
     * triggers a second operation that adds one to the program's counter. For an operation that changes a counter, a
     * second operation with the same trigger adds one to this counter.
     */
    Handle completionCounter;
    CntrOps completionOps;
    DeferredWorkStruct countingStruct;
    State state = State.QUEUED;

    /** The state of an operation. */
    public enum State {
        /** It waits for its counter, or is in flight. */
        QUEUED,
        /** It has succeeded. */
        DONE,
        /** It has failed, and a poll has read its error. */
        FAILED,
        /** It was canceled, or had not ended when its endpoint was closed. */
        CANCELED
    }

    /**
     * @param endpoint null if the operation changes a counter; then the regions and the peer are null too
     */
    DeferredOperation(DeferredWork.When when, String call, boolean isReceive, Endpoint endpoint, Counter counted,
            long token, DeferredWorkStruct struct, MemoryRegion[] regions, Peer peer) {
        this.when = when;
        this.call = call;
        this.endpoint = endpoint;
        this.counted = counted;
        this.token = token;
        this.isReceive = isReceive;
        this.queue = endpoint == null
                ? null
                : isReceive ? endpoint.bindings.receiveQueue() : endpoint.bindings.transmitQueue();
        this.struct = struct;
        this.regions = regions;
        this.peer = peer;
    }

    Counter trigger() { return when.trigger; }

    long threshold() { return when.threshold; }

    /** Whether its counter has not reached the threshold. */
    boolean isWaiting() {
        return when.trigger.isBelow(when.threshold);
    }

    /**
     * One step of an operation, with the provider's locks that it needs. When the trigger counts, the provider takes
     * the lock {@code takes}. When the operation completes, the provider changes {@code counted} while it holds the
     * lock {@code held}, or no lock if that is null. Each direction of an endpoint has a lock, and so has each counter.
     */
    record Step(Counter trigger, Object takes, Object held, Counter counted) {
        boolean isChange() { return takes == counted; }
    }

    private record Side(Object context, boolean isReceive) {}

    /**
     * {@return the steps of this operation, and of sends and receives that are not deferred if a counter of the
     * endpoint counts them}
     */
    Stream<Step> steps() {
        if (endpoint == null) { return Stream.of(new Step(when.trigger, counted, when.trigger, counted)); }
        Side side = new Side(endpoint.bindings.context(!isReceive), isReceive);
        Counter bound = endpoint.bindings.counters.of(isReceive ? CounterEvent.RECEIVE : CounterEvent.SEND);
        return Stream.concat(Stream.of(new Step(when.trigger, side, struct.isMessage() ? side : null, counted)),
                Stream.ofNullable(bound).map(counter -> new Step(null, null, side, counter)));
    }

    /**
     * {@return the state of this operation} It works after close.
     *
     * @throws WrongThreadException while it is queued, where the threading model gives the domain to another thread
     */
    public State state() { return when.list().stateOf(this); }

    /**
     * Cancels this operation; FI_CANCEL_WORK of fi_control, fi_trigger(3). If it is in flight, it may complete
     * nevertheless. A receive in flight fails with {@code ECANCELED} (125), as by {@link Messages#cancel}. Nothing
     * happens if the operation has ended.
     *
     * @return whether it was canceled; then no error is reported for it
     * @throws UnsupportedOperationException if the provider cannot: let its counter reach the threshold
     * @throws FabricException if the provider reports an error
     * @throws WrongThreadException as {@link #state}
     */
    public boolean cancel() { return when.list().cancel(this); }

    @Override
    public String toString() {
        return "deferred " + call + (endpoint == null ? "" : " of " + endpoint) + " for " + when.threshold + " on "
                + when.trigger;
    }
}
