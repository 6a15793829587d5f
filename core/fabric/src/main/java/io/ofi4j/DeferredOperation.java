package io.ofi4j;

import io.ofi4j.info.CounterEvent;
import io.ofi4j.internal.ffi.CntrOps;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.Handle;
import java.util.stream.Stream;

/** A queued operation of {@link DeferredWork}. It need not be kept. */
public final class DeferredOperation {
    private final DeferredWork.When when;
    private final String call;
    /** Null if it changes a counter. */
    final Endpoint endpoint;
    /** What counts its success, or what it changes. */
    final Counter counted;
    final long token;
    /** Where its error comes to, or null. */
    final CompletionQueue queue;
    final boolean isReceive;
    final DeferredWorkStruct struct;
    final MemoryRegion[] regions;
    final Peer peer;
    /**
     * Says when this has ended: a counter of its own, which a transfer adds one to, and from which a second operation
     * adds to the program's counter. What changes a counter has another behind it, which adds one to this.
     */
    Handle completionCounter;
    CntrOps completionOps;
    DeferredWorkStruct countingStruct;
    State state = State.QUEUED;

    /** What has become of an operation. */
    public enum State {
        /** It waits for its counter, or is under way. */
        QUEUED,
        /** It has succeeded. */
        DONE,
        /** It has failed, and its error was polled. */
        FAILED,
        /** It was canceled, or had not ended when its endpoint was closed. */
        CANCELED
    }

    /** @param endpoint null if it changes a counter, as are the regions and the peer */
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
     * What the provider's locks are to an operation: its counter lets it take one, and it is counted while another is
     * held, or none. A direction of an endpoint has a lock, and so has a counter.
     */
    record Step(Counter trigger, Object takes, Object held, Counter counted) {
        boolean isChange() { return takes == counted; }
    }

    private record Side(Object context, boolean isReceive) {}

    /** Of this, and of sends and receives beside it that are not deferred, if a counter of the endpoint counts them. */
    Stream<Step> steps() {
        if (endpoint == null) { return Stream.of(new Step(when.trigger, counted, when.trigger, counted)); }
        Side side = new Side(endpoint.bindings.context(!isReceive), isReceive);
        Counter bound = endpoint.bindings.counters.of(isReceive ? CounterEvent.RECEIVE : CounterEvent.SEND);
        return Stream.concat(Stream.of(new Step(when.trigger, side, struct.isMessage() ? side : null, counted)),
                Stream.ofNullable(bound).map(counter -> new Step(null, null, side, counter)));
    }

    /**
     * {@return what has become of it} It works after close.
     *
     * @throws WrongThreadException while it is queued, where the threading model gives the domain to another thread
     */
    public State state() { return when.list().stateOf(this); }

    /**
     * Takes it back; FI_CANCEL_WORK of fi_control(3). One that is under way may end as if this was not called. A
     * receive that is under way fails with {@code ECANCELED}, as by {@link Messages#cancel}. Nothing happens if it has
     * ended.
     *
     * @return whether it was canceled, and has no error to be polled
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
