package io.ofi4j.examples.perf;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.examples.CommandFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** One end of the transfers: an endpoint with its queue and its memory. */
abstract class End implements AutoCloseable {
    private static final int BATCH = 64;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final Plan plan;
    private final boolean isTarget;
    /** Of messages: the answers at the measuring end, and what the target does with messages. */
    private Receives receives;
    private Responder responder;

    End(Device device, Plan plan, boolean isTarget) {
        this.plan = plan;
        this.isTarget = isTarget;
        Operation operation = plan.operation();
        int inFlight = plan.inFlight(isTarget);
        try {
            Domain domain = device.domain();
            queue = keep(inFlight > domain.info().transmit().size()
                    ? domain.openCompletionQueue(inFlight)
                    : domain.openCompletionQueue());
            region = keep(isTarget
                    ? allocate(domain, plan.length(), operation.remoteAccess())
                    : allocate(domain, plan.length() * (operation.hasAnswers() ? 2 : 1), operation.localAccess()));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** {@return an end of the device's type that measures} */
    static End open(Device device, Plan plan) {
        return open(device, plan, false);
    }

    /** {@return the other end for it} */
    static End openTarget(Device device, Plan plan) {
        return open(device, plan, true);
    }

    private static End open(Device device, Plan plan, boolean isTarget) {
        return device.isConnected()
                ? new ConnectedEnd(device, plan, isTarget)
                : new UnconnectedEnd(device, plan, isTarget);
    }

    /** Posts the receives of an endpoint that is enabled, before any message can come. */
    final void receive(Endpoint endpoint) {
        plan.conversation().ifPresent(conversation -> {
            if (isTarget) {
                responder = new Responder(plan.operation(), this, endpoint, conversation);
            } else {
                receives = new Receives(plan.operation(), endpoint, region, conversation.answers(), answers(),
                        Conversation.ANSWER_TAGS);
            }
        });
    }

    final void onMessage(long token) {
        if (responder != null) {
            responder.onMessage(token);
        } else {
            receives.onMessage(token);
        }
    }

    final <T extends AutoCloseable> T keep(T object) {
        opened.push(object);
        return object;
    }

    private static MemoryRegion allocate(Domain domain, long length, Access... access) {
        try {
            return domain.allocate(length, access);
        } catch (OutOfMemoryError e) {
            throw new CommandFailure(
                    "There is no memory for a region of " + length + " bytes: ask for smaller sizes (-S).", e);
        }
    }

    /** {@return where it can be reached} */
    abstract EndpointAddress address();

    /** {@return what it says of itself to the end that it will reach} */
    abstract byte[] introduction();

    /** Lets another end reach this one, by what that says of itself. */
    abstract void admit(byte[] introduction);

    /** {@return the end at this address; something is done meanwhile, again and again} */
    abstract Peer reach(EndpointAddress address, Runnable meanwhile, Duration deadline);

    /** {@return what operations are posted with, once another end is reached} */
    abstract Endpoint endpoint();

    /** {@return who was admitted, once that one is connected} */
    abstract Peer peer();

    /** {@return whether there was anything} */
    boolean poll(Completions completions) {
        boolean any = queue.poll(completions, BATCH) > 0;
        if (responder != null) {
            responder.work();
        } else if (receives != null) { receives.renew(); }
        return any;
    }

    /** {@return where answers begin in the region of a measuring end} */
    final long answers() { return plan.length(); }

    final Receives receives() { return receives; }

    final CompletionQueue queue() { return queue; }

    final MemoryRegion region() { return region; }

    /** Closes everything, the last opened first. */
    @Override
    public final void close() {
        RuntimeException failure = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                failure = e;
            } catch (Exception e) {
                throw new AssertionError(e); // nothing that is kept throws any other
            }
        }
        if (failure != null) { throw failure; }
    }
}
