package io.ofi4j.job;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Tagged;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.job.internal.Deadline;
import java.util.concurrent.locks.LockSupport;

/**
 * Messages between the ranks of a job, over an endpoint of their own. A tag has at most 61 bits: a mark, the number of
 * the operation in 24, the step modulo 4096 in 12, and the sender in 24. A receive therefore takes only the message
 * that it waits for.
 */
final class GroupMessages implements AutoCloseable {
    private static final long TAG_MARK = 1L << 60;
    private static final int NUMBER_SHIFT = 36;
    private static final int STEP_SHIFT = 24;
    private static final int MAX_RANKS = 1 << 24;
    private static final long NUMBERS = (1 << 24) - 1;
    /**
     * Steps of one sender have the same bits in a tag only if they are 4096 apart. Their messages then come in order.
     */
    private static final long STEPS = (1 << 12) - 1;
    /** Receives of segments that are posted at once. */
    static final int SLOTS = 4;
    /** Shorter ones cost more messages than what is done meanwhile saves; measured with two ranks on two cores. */
    private static final long SEGMENT_LENGTH = 512 << 10;
    private static final long NO_SLOT = 0;
    private static final int BATCH = 64;
    private static final int POLLS_BETWEEN_CHECKS = 1 << 10;
    private static final int FAILURE_CHECKS = 100;
    private static final long FAILURE_CHECK_NANOS = 10_000_000;

    private final Job job;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Ranks ranks;
    private final Tagged tagged;
    private final Waiting waiting;
    private final long limitNanos;
    private MemoryRegion scratch;
    private long number;
    private int inFlight;
    /** A bit for each slot whose receive has completed and was not waited for. */
    private long arrived;
    private String operation = "";
    private CompletionError failure;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            inFlight--;
            if (token != NO_SLOT) { arrived |= 1L << token - 1; }
        }

        @Override
        public void onError(CompletionError error) {
            inFlight--;
            failure = error;
        }
    };

    GroupMessages(Job job, Domain domain, Waiting waiting, long scratchLength) {
        if (job.size() > MAX_RANKS) { throw new IllegalArgumentException("there are too many ranks: " + job.size()); }
        this.job = job;
        this.domain = domain;
        this.waiting = waiting;
        this.limitNanos = Deadline.nanos(job.deadline());
        CompletionQueue openQueue = null;
        AddressVector openVector = null;
        Endpoint open = null;
        try {
            queue = openQueue = domain.openCompletionQueue();
            vector = openVector = domain.openAddressVector();
            endpoint = open = domain.openEndpoint();
            tagged = open.bind(queue).bind(vector).enable().tagged();
            ranks = Ranks.exchange(job, endpoint, vector);
            requireTag(tag(1, 0, 0));
            scratch = allocate(scratchLength);
        } catch (Throwable t) {
            close(open, openVector, openQueue, null);
            throw t;
        }
    }

    private void requireTag(long mark) {
        if ((mark & ~tagged.tagBits()) != 0) {
            throw new UnsupportedOperationException("the provider matches only the tag bits 0x"
                    + Long.toHexString(tagged.tagBits()) + "; messages between ranks need bits 0 to 60");
        }
    }

    /** {@return how long a segment of such elements is, a multiple of an element} */
    static long segmentLength(int element) {
        return Math.max(SEGMENT_LENGTH / element, 1) * element;
    }

    /** {@return the slot of the receive with this number} */
    static int slot(long number) {
        return (int) (number % SLOTS);
    }

    /** {@return memory for what arrives in the slots, each of this length, for so many receives in all} */
    MemoryRegion slots(long receives, long length) {
        return scratch(Math.min(SLOTS, receives) * length);
    }

    /**
     * Begins an operation of this name. Every rank begins the same operations in the same order. An operation that was
     * broken off may have left receives, which would be taken for those of the next one.
     */
    void begin(String name) {
        if (failure != null) { throw failed(failure.toException()); }
        if (inFlight > 0 || arrived != 0) {
            job.check(); // it says which rank has gone
            throw new JobException("rank " + job.rank() + " cannot go on: " + operation
                    + " did not end. Close the object, and open another at every rank.");
        }
        operation = name;
        number = number + 1 & NUMBERS;
    }

    private static long tag(long number, long step, int sender) {
        return TAG_MARK | number << NUMBER_SHIFT | (step & STEPS) << STEP_SHIFT | sender;
    }

    /** Posts the receive for the message of a rank in this step. */
    void receive(int from, long step, MemoryRegion region, long offset, long length) {
        receive(from, step, region, offset, length, NO_SLOT);
    }

    /** Posts the receive for the message of a rank in this step, for which {@link #awaitSlot} waits. */
    void receiveInSlot(int slot, int from, long step, MemoryRegion region, long offset, long length) {
        receive(from, step, region, offset, length, slot + 1);
    }

    private void receive(int from, long step, MemoryRegion region, long offset, long length, long token) {
        long its = tag(number, step, from);
        if (!tagged.tryReceive(region, offset, length, its, 0, token)) {
            long start = System.nanoTime();
            int turn = 0;
            do {
                turn = progress(turn, start);
            } while (!tagged.tryReceive(region, offset, length, its, 0, token));
        }
        inFlight++;
    }

    /** Sends to a rank; the bytes must not change until {@link #await}. */
    void send(int to, long step, MemoryRegion region, long offset, long length) {
        long mine = tag(number, step, job.rank());
        boolean injects = length <= tagged.injectSize();
        if (!trySend(injects, to, region, offset, length, mine)) {
            long start = System.nanoTime();
            int turn = 0;
            do { // for a rank that has gone there is never room
                turn = progress(turn, start);
            } while (!trySend(injects, to, region, offset, length, mine));
        }
        if (!injects) { inFlight++; }
    }

    private boolean trySend(boolean injects, int to, MemoryRegion region, long offset, long length, long tag) {
        try {
            return injects
                    ? tagged.tryInject(region, offset, length, ranks.peer(to), tag)
                    : tagged.trySend(region, offset, length, ranks.peer(to), tag, 0);
        } catch (FabricException e) {
            throw failed(e);
        }
    }

    /** Waits until all posted operations have completed. */
    void await() { awaitAtMost(0); }

    /** Waits until no more than so many posted operations have not completed. */
    void awaitAtMost(int count) {
        long start = System.nanoTime();
        for (int turn = 0; inFlight > count;) {
            turn = progress(turn, start);
        }
        if (failure != null) { throw failed(failure.toException()); }
    }

    /** Waits until the receive in this slot has completed. */
    void awaitSlot(int slot) {
        long bit = 1L << slot;
        long start = System.nanoTime();
        for (int turn = 0; (arrived & bit) == 0 && failure == null;) {
            turn = progress(turn, start);
        }
        if (failure != null) { throw failed(failure.toException()); }
        arrived &= ~bit;
    }

    /**
     * Polls, and pauses if there was nothing. Makes progress on the queues that the job was given, and checks from time
     * to time whether a rank has failed, and whether the wait that began at {@code start} is over. Returns the next
     * turn.
     */
    private int progress(int turn, long start) {
        if (queue.poll(completions, BATCH) > 0) { return 0; }
        job.progress();
        if (turn % POLLS_BETWEEN_CHECKS == POLLS_BETWEEN_CHECKS - 1) {
            job.check();
            if (System.nanoTime() - start > limitNanos) { throw timedOut(); }
        }
        waiting.pause(turn);
        return turn + 1 & Integer.MAX_VALUE;
    }

    private JobException timedOut() {
        return new JobException(
                "rank " + job.rank() + " still waits in " + operation + " after " + Deadline.text(job.deadline())
                        + ": has every rank called it, in the same order, with the same sizes?");
    }

    /**
     * {@return the exception for a failed message} The failure may be known before the end of the rank that caused it.
     */
    private JobException failed(FabricException cause) {
        for (int i = 0; i < FAILURE_CHECKS; i++) {
            job.check();
            LockSupport.parkNanos(FAILURE_CHECK_NANOS);
        }
        return new JobException("rank " + job.rank() + " cannot go on: " + operation + " failed: " + cause.getMessage(),
                cause);
    }

    /** {@return memory for elements that arrive and are not combined yet; valid until the next call} */
    MemoryRegion scratch(long length) {
        if (scratch.length() < length) {
            MemoryRegion smaller = scratch;
            scratch = allocate(length);
            smaller.close();
        }
        return scratch;
    }

    private MemoryRegion allocate(long length) { return domain.allocate(length, Access.SEND, Access.RECEIVE); }

    @Override
    public void close() { close(endpoint, vector, queue, scratch); }

    private static void close(Endpoint endpoint, AddressVector vector, CompletionQueue queue, MemoryRegion scratch) {
        try (scratch; queue; vector; endpoint) { // closes the last first, even if one of them throws; null is skipped
            return;
        }
    }
}
