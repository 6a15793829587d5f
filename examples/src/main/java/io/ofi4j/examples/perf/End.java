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

    End(Device device, int window, long length, Access... access) {
        try {
            Domain domain = device.domain();
            queue = keep(window > domain.info().transmit().size()
                    ? domain.openCompletionQueue(window)
                    : domain.openCompletionQueue());
            region = keep(allocate(domain, length, access));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** {@return an end of the device's type} */
    static End open(Device device, int window, long length, Access... access) {
        return device.isConnected()
                ? new ConnectedEnd(device, window, length, access)
                : new UnconnectedEnd(device, window, length, access);
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

    /** {@return whether there was anything} */
    boolean poll(Completions completions) {
        return queue.poll(completions, BATCH) > 0;
    }

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
