package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointType;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.BitSet;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * Writes and reads of a {@link FaultTarget}'s memory at random, and what must hold whatever becomes of it: each
 * operation comes back exactly once, and what a read has seen is there. The values that are written to a slot grow.
 */
final class FaultWork implements AutoCloseable {
    static final Duration DEADLINE = Patience.seconds(20);
    /** That a fault of a provider that stalls may take, see {@link #again}. */
    static final long SECONDS = 300;
    /** For each fault; in a hundred rounds of every fault with ofi_rxd there was none. */
    private static final int MOST_STALLS = 1;

    static final int SLOTS = FaultPeer.SLOTS;
    private static final int BULK = 1 << 16;
    private static final int BULK_LENGTH = 200_000;
    private static final int WINDOW = 64;
    /**
     * With more in flight, or with writes of many packets, ofi_rxd loses operations on a busy machine without any
     * fault.
     */
    private static final int RXD_WINDOW = 4;
    private static final int RXD_LENGTH = 1000;

    /** Operations do not come back until the endpoint is closed; then they do, see {@link #close}. */
    static final class Stalled extends AssertionError {
        private static final long serialVersionUID = 1;

        Stalled(String what) { super(what); }
    }

    /**
     * Does something that may stall. ofi_rxd has lost operations on busy machines without any fault; there it is done
     * again, with an endpoint of its own, and counted.
     *
     * @return how often it stalled
     */
    static int again(String provider, Runnable action) {
        for (int stalls = 0;; stalls++) {
            try {
                action.run();
                return stalls;
            } catch (Stalled e) {
                if (!provider.contains("ofi_rxd") || stalls == MOST_STALLS) { throw e; }
            }
        }
    }

    final Endpoint endpoint;
    int completed;
    int failed;
    CompletionError lastError;

    private final Domain domain;
    private final AddressVector vector;
    private final EventQueue events;
    private final CompletionQueue queue;
    private final MemoryRegion local;
    private final Random random;
    /**
     * shm does not say which operation a kernel's refusal was about, and sockets tells of the message that begins a
     * connection.
     */
    private final boolean hasErrorsOfNoOperation;
    private final int window;
    private final BitSet outstanding = new BitSet();
    private final FaultPeer target;
    private final long[] seen = new long[SLOTS];
    private final RemoteRegion remote;
    private Peer peer;
    private int nextToken;
    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            comesBack(token);
            completed++;
            completed((int) token);
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() != NO_TOKEN || !hasErrorsOfNoOperation) { comesBack(error.token()); }
            failed++;
            lastError = error;
        }
    };

    FaultWork(Fabric fabric, Domain domain, FaultPeer target, Random random) {
        this.domain = domain;
        this.random = random;
        this.target = target;
        hasErrorsOfNoOperation = domain.info().provider().equals("shm") || domain.info().provider().equals("sockets");
        window = domain.info().provider().contains("ofi_rxd") ? RXD_WINDOW : WINDOW;
        queue = domain.openCompletionQueue();
        local = domain.allocate(FaultTarget.LENGTH, Access.READ, Access.WRITE);
        boolean connected = domain.info().endpoint().type() == EndpointType.MSG;
        events = connected ? fabric.openEventQueue() : null;
        vector = connected ? null : domain.openAddressVector();
        endpoint = connected
                ? domain.openEndpoint().bind(events).bind(queue).enable()
                : domain.openEndpoint().bind(vector).bind(queue).enable();
        remote = target.region;
    }

    /** To the target, where the endpoint's type is connected; others begin a connection when they first operate. */
    FaultWork connect() {
        return connect(DEADLINE);
    }

    FaultWork connect(Duration deadline) {
        if (events == null) {
            peer = vector.insert(target.address);
        } else {
            endpoint.connection().connect(target.address, deadline);
            peer = endpoint.connection().peer();
        }
        return this;
    }

    /** The slot of a read is its token's; that of a write is not looked at again. */
    private boolean isRead(int token) {
        return token % 3 == 2;
    }

    private void comesBack(long token) {
        if (token < 0 || token >= nextToken || !outstanding.get((int) token)) {
            throw new AssertionError("token " + token + " came back twice, or from nowhere");
        }
        outstanding.clear((int) token);
    }

    private void completed(int token) {
        if (isRead(token)) {
            int slot = token % SLOTS;
            long value = local.segment().get(ValueLayout.JAVA_LONG, place(token));
            if (value > target.written[slot]) {
                throw new AssertionError(
                        "slot " + slot + " has " + value + ", and at most " + target.written[slot] + " was written");
            }
            seen[slot] = Math.max(seen[slot], value);
        }
    }

    /** Where in local memory an operation has its eight bytes: no two in flight share a place. */
    private static long place(int token) {
        return BULK / 2 + (token % 2048) * (long) Long.BYTES;
    }

    /** {@return whether one more operation was posted} */
    boolean tryPost() {
        if (outstanding.cardinality() >= window
                || nextToken >= 2048 && outstanding.get(0, nextToken - 2000).cardinality() > 0) {
            return false;
        }
        int token = nextToken;
        boolean posted = isRead(token) ? read(token) : random.nextInt(16) == 0 ? bulk(token) : write(token);
        if (posted) {
            outstanding.set(token);
            nextToken++;
        }
        return posted;
    }

    private boolean read(int token) {
        local.segment().set(ValueLayout.JAVA_LONG, place(token), 0);
        return endpoint.rma().tryRead(local, place(token), Long.BYTES, peer, remote, token % SLOTS * (long) Long.BYTES,
                token);
    }

    private boolean write(int token) {
        int slot = token % SLOTS;
        local.segment().set(ValueLayout.JAVA_LONG, place(token), ++target.lastWritten);
        target.written[slot] = target.lastWritten;
        return endpoint.rma().tryWrite(local, place(token), Long.BYTES, peer, remote, slot * (long) Long.BYTES, token);
    }

    private boolean bulk(int token) {
        int length = 1 + random.nextInt(window == RXD_WINDOW ? RXD_LENGTH : BULK_LENGTH);
        return endpoint.rma().tryWrite(local, BULK, length, peer, remote, BULK, token);
    }

    /** Posts and polls until the condition holds, for as long as operations come back. */
    void runUntil(BooleanSupplier condition, Duration deadline) {
        for (int before = -1; !tryRunUntil(condition, deadline); before = requireMore(before, deadline)) {
            continue;
        }
    }

    /**
     * Those that have come back, more than before: who waits with a deadline is told of operations, not of how fast
     * they are.
     */
    private int requireMore(int before, Duration deadline) {
        int now = completed + failed;
        if (now == before) { throw new Stalled(this + ": nothing came back in " + deadline); }
        return now;
    }

    boolean tryRunUntil(BooleanSupplier condition, Duration deadline) {
        return Waiting.YIELD.tryUntil(() -> {
            if (condition.getAsBoolean()) { return true; }
            if (!tryPost()) { Thread.yield(); }
            poll();
            return false;
        }, deadline);
    }

    void poll() { queue.poll(handler, 64); }

    /** Waits, without posting, until everything has come back. */
    boolean tryDrain(Duration deadline) {
        return Waiting.YIELD.tryUntil(() -> {
            poll();
            return outstanding.isEmpty();
        }, deadline);
    }

    /** What reads have seen of the target's memory is there, also after its end, and nothing that was not written. */
    void verify() {
        for (int slot = 0; slot < SLOTS; slot++) {
            long value = target.value(slot * (long) Long.BYTES);
            if (value < seen[slot] || value > target.written[slot]) {
                throw new AssertionError("slot " + slot + " has " + value + "; " + seen[slot] + " was seen, "
                        + target.written[slot] + " written");
            }
        }
    }

    /** Waits until everything has come back, and well. */
    void drainWithoutFailure() {
        for (int before = -1; !tryDrain(DEADLINE); before = requireMore(before, DEADLINE)) {
            continue;
        }
        if (failed > 0) { throw new AssertionError("not everything came back well: " + this); }
    }

    boolean sawValues() {
        for (long value : seen) {
            if (value > 0) { return true; }
        }
        return false;
    }

    /** Closes everything; whatever was in flight must come back. */
    @Override
    public void close() {
        endpoint.close();
        poll();
        while (queue.poll(handler, 64) > 0) {
            continue;
        }
        if (!outstanding.isEmpty() || queue.operationsInFlight() != 0) {
            throw new AssertionError(
                    "never came back: " + outstanding + ", " + queue.operationsInFlight() + " in flight");
        }
        if (vector != null) { vector.close(); }
        if (events != null) { events.close(); }
        local.close();
        queue.close();
    }

    @Override
    public String toString() {
        return domain.info().provider() + " with " + completed + " completed, " + failed + " failed, "
                + outstanding.cardinality() + " in flight, the last error " + lastError;
    }
}
