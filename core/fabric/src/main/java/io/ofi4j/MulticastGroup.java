package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CmOps;
import io.ofi4j.internal.ffi.CollectiveOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.PreparedMessageStruct;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * A multicast group that an endpoint has joined, and the messages to it; {@code struct fid_mc}, fi_cm(3). Opened by
 * {@link Endpoint#joinMulticast}; close it before the endpoint. A message goes to all members. It may be lost, repeated
 * or reordered. Members receive it with the receives of their {@link Endpoint#messages}, as any other.
 *
 * <p>A send gives one completion, with its token, on the endpoint's transmit queue. Do not change the bytes before
 * that. Messages to peers and to groups may be sent in any order from one endpoint.
 *
 * <p><b>Errors.</b> Everything is checked before native code is reached. Every send throws IndexOutOfBoundsException if
 * the bytes are not all inside the region; IllegalArgumentException if the region lacks {@link Access#SEND} or belongs
 * to another domain, or there are too many bytes; IllegalStateException if the group or the region is closed;
 * WrongThreadException where the domain's {@link ThreadingModel} gives the endpoint to another thread; FabricException
 * if the provider reports an error, such as {@code ENETUNREACH} (101) where there is no route to the group.
 */
public final class MulticastGroup implements AutoCloseable {
    /** The states of a group. */
    private enum State {
        /** The event of the join has not come yet. */
        JOINING,
        /** It takes messages. */
        JOINED,
        /** {@code close} was called. libfabric has not closed it: the next call tries again. */
        CLOSING,
        /** Closed. */
        CLOSED
    }

    private final Messages family;
    private final EndpointAddress address;
    /** The number of the join, which its event has. */
    private final long join;
    /** What the checks of sends compare. */
    private final Peer target;
    /**
     * The struct of sends; used inside the guard. It alone has the number of the group: for the provider that is a
     * pointer, which no program must get.
     */
    private final PreparedMessageStruct message = new PreparedMessageStruct(false, 1);
    private final long flags;
    /** Written under the endpoint's monitor, inside the guard of transmits; read inside either. */
    private State state = State.JOINING;
    private Handle handle;

    private MulticastGroup(Messages family, EndpointAddress address, long join) {
        this.family = family;
        this.address = address;
        this.join = join;
        this.target = new Peer(family.endpoint.bindings.vector(),
                new Peer.Entry(address, FabricConstants.FI_ADDR_UNSPEC, false));
        this.flags = family.defaultFlags | FabricConstants.FI_COMPLETION | FabricConstants.FI_MULTICAST;
    }

    /** As {@link Endpoint#joinMulticast}, for an endpoint with the capability. */
    static MulticastGroup join(Messages family, EndpointAddress address, Duration deadline) {
        StackRoom.require();
        Objects.requireNonNull(deadline, "deadline");
        Endpoint endpoint = family.endpoint;
        endpoint.bindings.requireWhole("multicast group");
        AddressFormats.require(endpoint.info(), address);
        AddressFormats.requireMulticast(address);
        return endpoint.whileOpen(true, handle -> joinLocked(family, handle, address)).awaitJoined(deadline);
    }

    private static MulticastGroup joinLocked(Messages family, Handle handle, EndpointAddress address) {
        Endpoint endpoint = family.endpoint;
        JoinEvents events = endpoint.lifeCycle.multicastEvents();
        if ((endpoint.info().capabilityBits() & Capability.RECV.bit()) == 0) {
            endpoint.quirks.require(Fact.SENDERS_GROUPS_STAY);
        }
        endpoint.quirks.beforeJoin(address,
                endpoint.children.all(MulticastGroup.class).map(MulticastGroup::address).toList());
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            MulticastGroup group = new MulticastGroup(family, address, events.begin());
            OpenResult out = CmOps.fi_join(handle, address.toBytes(), group.join);
            if (out.status() < 0) { events.forget(group.join); }
            Status.checkOffered(out.status(), "fi_join of " + address, family.provider);
            group.handle = out.handle();
            group.message.peer(CollectiveOps.fi_mc_addr(group.handle));
            endpoint.children.add(group);
            return group;
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    private MulticastGroup awaitJoined(Duration deadline) {
        try {
            boolean done = Waiting.YIELD.tryUntil(() -> {
                if (isJoined()) { return true; }
                family.endpoint.domain.queues.progress();
                return false;
            }, deadline);
            if (done) { return this; }
            throw new FabricTimeoutException("fi_join of " + address, deadline,
                    "The provider has not reported the join: wait longer.");
        } catch (Throwable t) {
            try {
                close();
            } catch (RuntimeException e) { // the endpoint keeps it
                t.addSuppressed(e);
            }
            throw t;
        }
    }

    /** Whether the event of the join has come. */
    private boolean isJoined() {
        synchronized (family.endpoint) {
            family.endpoint.requireOpen();
            if (state != State.JOINING) { throw closed(); }
            boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
            try {
                OptionalInt outcome = family.endpoint.lifeCycle.multicastEvents().outcome(join);
                if (outcome.orElse(0) != 0) {
                    throw Status.exception(-outcome.getAsInt(), "fi_join", " of " + address, family.provider);
                }
                if (outcome.isPresent()) { state = State.JOINED; }
                return outcome.isPresent();
            } finally {
                ThreadGuard.exit(family.guard, entered);
            }
        }
    }

    /** {@return the address of the group} */
    public EndpointAddress address() { return address; }

    /**
     * Starts sending a message to the group if there is room; fi_sendmsg with FI_MULTICAST, fi_msg(3).
     *
     * @param local the bytes to send; needs {@link Access#SEND}
     * @param offset the start of the message in the region, in bytes
     * @param length the number of bytes, 0 to {@link Messages#maximumMessageSize}
     * @param token comes back with the completion
     * @return whether the message was accepted
     * @throws IllegalStateException if this group, its endpoint or the region is closed
     */
    public boolean trySend(MemoryRegion local, long offset, long length, long token) {
        boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
        try {
            if (state != State.JOINED) { throw closed(); }
            family.requireSend(local, offset, length, target);
            long context = family.contexts.acquire(token, family.number, local.number);
            if (context == ContextSlab.NONE) { return false; }
            message.local.set(0, local.address + offset, length, local.descriptor);
            message.count(1, length);
            message.context(context);
            return family.accepted(context, family.submit(message, PreparedMessage.Call.SEND, flags, context),
                    "fi_sendmsg", null);
        } finally {
            ThreadGuard.exit(family.guard, entered);
        }
    }

    /** As {@link #trySend}, but sends a slice, and waits for room. */
    public void send(MemoryRegion.Slice local, long token) {
        if (!trySend(local.region(), local.offset(), local.length(), token)) {
            family.awaitRoom("fi_sendmsg", null, () -> trySend(local.region(), local.offset(), local.length(), token));
        }
    }

    private IllegalStateException closed() { return new IllegalStateException(this + " is closed"); }

    /**
     * Leaves the group; fi_close, fi_cm(3). Sends that were accepted complete. Does nothing if the group is closed.
     *
     * <p><b>If it throws.</b> After FabricException, where the provider cannot leave the group, the group takes no more
     * sends, and libfabric keeps it. Its endpoint cannot be closed before it: call {@code close} of either again once
     * the cause, such as a route that is missing, is gone. After WrongThreadException nothing has changed.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (family.endpoint) {
            if (state == State.CLOSED) { return; }
            family.endpoint.requireOpen();
            boolean entered = ThreadGuard.enter(family.guard, family.unlockedThread);
            try {
                state = State.CLOSING;
                family.endpoint.lifeCycle.multicastEvents().forget(join);
                Status.check(FidOps.fi_close(handle), "fi_close(multicast group)", family.provider);
                state = State.CLOSED;
            } finally {
                ThreadGuard.exit(family.guard, entered);
            }
            family.endpoint.children.remove(this);
        }
    }

    /**
     * Closes it where a close has failed, before its endpoint closes; inside the endpoint's monitor. After a join that
     * failed, the program has no reference to it.
     */
    void closeAgain() {
        if (state != State.CLOSING) { return; }
        try {
            close();
        } catch (FabricException e) {
            return; // it stays, and its endpoint says so
        }
    }

    @Override
    public String toString() { return "MulticastGroup " + address; }
}
