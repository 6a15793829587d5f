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
import io.ofi4j.info.Protocol;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Messages between the ranks of a group, over an endpoint of their own. A tag has at most 61 bits: a mark, a number of
 * this object in 12, the number of the operation in 12, the step in 12, and the sender in 24. A receive therefore takes
 * only the message that it waits for, also with providers whose receives may take messages to another endpoint of the
 * domain.
 */
final class GroupMessages implements AutoCloseable {
    private static final long TAG_MARK = 1L << 60;
    private static final int OBJECT_SHIFT = 48;
    private static final int NUMBER_SHIFT = 36;
    private static final int STEP_SHIFT = 24;
    private static final int MAX_RANKS = 1 << 24;
    /**
     * Numbers are modulo 4096. Operations or steps of one sender have the same bits in a tag only if they are so far
     * apart; their messages then come in order.
     */
    private static final long NUMBERS = (1 << 12) - 1;
    /** Receives of segments that are posted at once. */
    static final int SLOTS = 4;
    /** Shorter ones cost more messages than what is done meanwhile saves; measured with two ranks on two cores. */
    static final long SEGMENT_LENGTH = 512 << 10;
    /**
     * What ofi_rxm sends at once. A longer message waits for a request of the receiver; up to four together cost less.
     */
    private static final long RXM_EAGER_LENGTH = 16 << 10;
    private static final long MAX_EAGER_LENGTH = SLOTS * RXM_EAGER_LENGTH;
    /** A token is what was posted in the lowest bits, and the other rank above them. */
    private static final int RANK_SHIFT = 8;
    private static final int SEND = (1 << RANK_SHIFT) - 1;
    /** A receive in slot k is k + 1. */
    private static final int NO_SLOT = 0;
    private static final int BATCH = 64;
    private static final int NOBODY = -1;

    private final JobGroup group;
    private final Job job;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Ranks ranks;
    /** What the tags of this object have in common. */
    private final long mark;
    private final Tagged tagged;
    private final GroupWait wait;
    private final boolean isRxm;
    /** The receives from each rank, and the sends to it, that have not completed. */
    private final int[] receivesInFlight;
    private final int[] sendsInFlight;
    /**
     * The ranks to which a message has gone. An inject says nothing of the connection that it may wait for, so that
     * the first message to each rank is a send, which is waited for: this rank may make no progress afterwards.
     */
    private final boolean[] reached;
    private MemoryRegion scratch;
    private long number;
    private int inFlight;
    /** A bit for each slot whose receive has completed and was not waited for. */
    private long arrived;
    /** Whether an operation ended with an exception, so that this rank is not in step with the others. */
    private boolean brokenOff;
    private CompletionError failure;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            inFlight--;
            int other = (int) (token >>> RANK_SHIFT);
            int posted = (int) token & SEND;
            if (posted == SEND) {
                sendsInFlight[other]--;
                reached[other] = true;
                return;
            }
            receivesInFlight[other]--;
            if (posted != NO_SLOT) { arrived |= 1L << posted - 1; }
        }

        @Override
        public void onError(CompletionError error) {
            inFlight--;
            failure = error;
        }
    };

    GroupMessages(JobGroup group, Domain domain, Waiting waiting, long scratchLength) {
        if (group.size() > MAX_RANKS) {
            throw new IllegalArgumentException("there are too many ranks: " + group.size());
        }
        this.group = group;
        this.job = group.job();
        this.domain = domain;
        this.wait = new GroupWait(group, waiting, this::awaited,
                "has every rank called it, in the same order, with the same sizes?");
        this.receivesInFlight = new int[group.size()];
        this.sendsInFlight = new int[group.size()];
        this.reached = new boolean[group.size()];
        CompletionQueue openQueue = null;
        AddressVector openVector = null;
        Endpoint open = null;
        try {
            queue = openQueue = domain.openCompletionQueue();
            vector = openVector = domain.openAddressVector();
            endpoint = open = domain.openEndpoint();
            tagged = open.bind(queue).bind(vector).enable().tagged();
            Protocol protocol = open.info().endpoint().protocol();
            isRxm = protocol == Protocol.RXM || protocol == Protocol.RXM_TCP;
            Ranks.Agreed agreed = Ranks.agree(group, endpoint, vector);
            ranks = agreed.ranks();
            mark = TAG_MARK | (agreed.number() & NUMBERS) << OBJECT_SHIFT;
            requireTag(TAG_MARK | TAG_MARK - 1);
            scratch = allocate(scratchLength);
            job.progressWhileThisThreadWaits(queue);
        } catch (Throwable t) {
            close(open, openVector, openQueue, null);
            throw t;
        }
    }

    /** Sets the longest time of the operations that begin from now on. */
    void deadline(Duration longest) {
        wait.deadline(longest);
    }

    private void requireTag(long bits) {
        if ((bits & ~tagged.tagBits()) != 0) {
            throw new UnsupportedOperationException("the provider matches only the tag bits 0x"
                    + Long.toHexString(tagged.tagBits()) + "; messages between ranks need bits 0 to 60");
        }
    }

    /**
     * {@return how long the segments of a block are, a multiple of an element}
     *
     * @param block the length of the block, a multiple of an element; 0 is possible
     */
    long segmentLength(int element, long block) {
        long longest = isRxm && block <= MAX_EAGER_LENGTH ? RXM_EAGER_LENGTH : SEGMENT_LENGTH;
        return Math.clamp(block, element, Math.max(longest / element, 1) * element);
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
     * Begins an operation of this name, and its deadline. Every rank begins the same operations in the same order. An
     * operation that was broken off may have left receives, which would be taken for those of the next one.
     */
    void begin(String name) {
        if (failure != null) { throw failed(failure); }
        if (brokenOff || inFlight > 0 || arrived != 0) {
            job.check(); // it says which rank has gone
            throw new JobException("rank " + job.rank() + " cannot go on: " + wait.operation()
                    + " did not end. Close the object, and open another at every rank.");
        }
        number = number + 1 & NUMBERS;
        wait.begin(name);
    }

    /** What the program's combination throws ends the operation in the middle: there is no other with this object. */
    void combine(Reduction reduction, MemorySegment into, MemorySegment from) {
        brokenOff = true;
        reduction.combination().combine(into, from);
        brokenOff = false;
    }

    private long tag(long step, int sender) {
        return mark | number << NUMBER_SHIFT | (step & NUMBERS) << STEP_SHIFT | sender;
    }

    /** Posts the receive for the message of a rank in this step. */
    void receive(int from, long step, MemoryRegion region, long offset, long length) {
        receive(from, step, region, offset, length, NO_SLOT);
    }

    /** Posts the receive for the message of a rank in this step, for which {@link #awaitSlot} waits. */
    void receiveInSlot(int slot, int from, long step, MemoryRegion region, long offset, long length) {
        receive(from, step, region, offset, length, slot + 1);
    }

    private void receive(int from, long step, MemoryRegion region, long offset, long length, int slot) {
        long its = tag(step, from);
        long token = token(from, slot);
        for (int turn = 0; !tagged.tryReceive(region, offset, length, its, 0, token);) {
            turn = progress(turn, from);
        }
        inFlight++;
        receivesInFlight[from]++;
    }

    private static long token(int other, int posted) { return (long) other << RANK_SHIFT | posted; }

    /** Sends to a rank; the bytes must not change until {@link #await}. */
    void send(int to, long step, MemoryRegion region, long offset, long length) {
        long mine = tag(step, group.rank());
        boolean injects = reached[to] && length <= tagged.injectSize();
        for (int turn = 0; !trySend(injects, to, region, offset, length, mine);) {
            turn = progress(turn, to); // for a rank that has gone there is never room
        }
        if (injects) { return; }
        inFlight++;
        sendsInFlight[to]++;
    }

    private boolean trySend(boolean injects, int to, MemoryRegion region, long offset, long length, long tag) {
        try {
            return injects
                    ? tagged.tryInject(region, offset, length, ranks.peer(to), tag)
                    : tagged.trySend(region, offset, length, ranks.peer(to), tag, token(to, SEND));
        } catch (FabricException e) {
            throw failed(to, e);
        }
    }

    /** Waits until all posted operations have completed. */
    void await() { awaitAtMost(0); }

    /** Waits until no more than so many posted operations have not completed. */
    void awaitAtMost(int count) {
        for (int turn = 0; inFlight > count && failure == null;) {
            turn = progress(turn, NOBODY);
        }
        if (failure != null) { throw failed(failure); }
    }

    /** Waits until the receive in this slot has completed. */
    void awaitSlot(int slot) {
        long bit = 1L << slot;
        for (int turn = 0; (arrived & bit) == 0 && failure == null;) {
            turn = progress(turn, NOBODY);
        }
        if (failure != null) { throw failed(failure); }
        arrived &= ~bit;
    }

    /**
     * Polls, and pauses if there was nothing. Makes progress on the queues that the job was given, and checks from time
     * to time whether a rank has failed, this thread is interrupted, or the operation's deadline is over. Returns the
     * next turn.
     *
     * @param blocked the rank for which nothing can be posted, or {@link #NOBODY}
     */
    private int progress(int turn, int blocked) {
        try {
            wait.check(blocked);
            if (blocked != NOBODY && failure != null) { throw failed(failure); }
            return queue.poll(completions, BATCH) > 0 ? 0 : wait.pause(turn, queue);
        } catch (Throwable t) {
            brokenOff = true;
            throw t;
        }
    }

    /** {@return the ranks that this one waits for, as text} Those that must send come first. */
    private String awaited(int blocked) {
        if (blocked != NOBODY) { return " for " + group.names(List.of(blocked)); }
        List<Integer> senders = above(receivesInFlight);
        List<Integer> others = senders.isEmpty() ? above(sendsInFlight) : senders;
        return others.isEmpty() ? "" : " for " + group.names(others);
    }

    private static List<Integer> above(int[] counts) {
        return IntStream.range(0, counts.length).filter(rank -> counts[rank] > 0).boxed().toList();
    }

    private JobException failed(CompletionError error) {
        return failed((int) (error.token() >>> RANK_SHIFT), error.toException());
    }

    /**
     * {@return the exception for a failed message} The failure may be known before the end of the rank that caused it.
     */
    private JobException failed(int other, FabricException cause) {
        brokenOff = true;
        return wait.failed(other, cause);
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
    public void close() {
        job.forget(queue);
        close(endpoint, vector, queue, scratch);
    }

    private static void close(Endpoint endpoint, AddressVector vector, CompletionQueue queue, MemoryRegion scratch) {
        try (scratch; queue; vector; endpoint) { // closes the last first, even if one of them throws; null is skipped
            return;
        }
    }
}
