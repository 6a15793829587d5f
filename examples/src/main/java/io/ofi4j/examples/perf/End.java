package io.ofi4j.examples.perf;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EndpointAddress;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.examples.CommandFailure;
import java.util.ArrayDeque;
import java.util.Deque;

/** One end of the transfers: an endpoint with its queue and its memory. */
final class End implements AutoCloseable {
    private static final int BATCH = 64;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final MemoryRegion region;
    private final Endpoint endpoint;

    End(Device device, int window, long length, Access... access) {
        try {
            Domain domain = device.domain();
            queue = keep(window > domain.info().transmit().size()
                    ? domain.openCompletionQueue(window)
                    : domain.openCompletionQueue());
            vector = keep(domain.openAddressVector());
            region = keep(allocate(domain, length, access));
            endpoint = keep(domain.openEndpoint()).bind(vector).bind(queue).enable();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T object) {
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

    /** {@return whether there was anything} */
    boolean poll(Completions completions) {
        return queue.poll(completions, BATCH) > 0;
    }

    Peer insert(EndpointAddress address) {
        return vector.insert(address);
    }

    Endpoint endpoint() {
        return endpoint;
    }

    MemoryRegion region() {
        return region;
    }

    /** Closes everything, the last opened first. */
    @Override
    public void close() {
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
        if (failure != null) {
            throw failure;
        }
    }
}
