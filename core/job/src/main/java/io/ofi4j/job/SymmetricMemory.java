package io.ofi4j.job;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.Atomics;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

/**
 * Memory of the same size in every rank, which each rank writes and reads by rank and offset, as OpenSHMEM's symmetric
 * memory.
 *
 * <pre>{@code
 * try (SymmetricMemory memory = SymmetricMemory.allocate(job.group(), domain, 1 << 20)) { // a domain of hints()
 *     memory.put(right, 4096, rows);                // starts a write
 *     memory.quiet();                               // the rows are in the right neighbour's memory
 *     long ticket = memory.fetchAdd(0, 0, 1);       // of a counter at rank 0
 *     job.barrier();                                // everybody's rows have come
 * }
 * }</pre>
 *
 * <p>It has an endpoint, a queue and a vector of its own. {@link #put}, {@link #putThenSignal} and {@link #get} start
 * an operation and return; {@link #quiet} waits until all that this rank has started are done: what was put is in the
 * other rank's memory then, and what was got is here. The other calls return when they are done. Offsets are in bytes.
 *
 * <p>Ranks are those of the group. Where a provider does not progress by itself, a rank serves the others only in calls
 * that wait: those of this class and of its {@link Job}, and {@link JobCollectives}. A rank that computes for long
 * calls {@link #progress} now and then.
 *
 * <p><b>Threads.</b> One thread at a time may use it. With a threading model other than SAFE that is the domain's
 * thread; others get {@link WrongThreadException}.
 *
 * <p><b>Errors.</b> Every call throws {@link JobException}, which names the ranks that it is about, if an operation has
 * failed, the job's deadline passes, a rank has gone, or the waiting thread is interrupted (its interrupt status stays
 * set), or an earlier call ended in that way: close the memory then. It throws IndexOutOfBoundsException if there is
 * no such rank, or the bytes are not all inside the memory; and
 * {@link IllegalStateException} once it is closed. Bytes of the same place that two ranks write at the same time are
 * those of either, or a mixture.
 */
public final class SymmetricMemory implements AutoCloseable {
    private static final int CELL = 64;
    private static final int BATCH = 64;
    /** The token of the operation that its call waits for. */
    private static final long ANSWER = 1L << 32;
    private static final int NOBODY = -1;

    private final JobGroup group;
    private final GroupWait wait;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final MemoryRegion memory;
    /** The number in a call, and its answer. */
    private final MemoryRegion cell;
    private final Ranks ranks;
    /** What was started for each rank and is not done. */
    private final int[] inFlight;
    private int allInFlight;
    private boolean isAnswered;
    /** Whether a call ended with an exception while it waited. */
    private boolean isBrokenOff;
    private CompletionError failure;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { end(token); }

        @Override
        public void onError(CompletionError error) {
            if (!error.posted()) { return; } // of what another rank does
            end(error.token());
            if (failure == null) { failure = error; }
        }

        private void end(long token) {
            isAnswered |= (token & ANSWER) != 0;
            inFlight[(int) token]--;
            allInFlight--;
        }
    };

    private SymmetricMemory(JobGroup group, Domain domain, long bytes, Waiting waiting) {
        this.group = group;
        this.wait = new GroupWait(group, waiting, this::awaited,
                "does that rank make progress, in a call that waits or by progress()?");
        this.inFlight = new int[group.size()];
        if (!domain.info().transmit().operationFlags().contains(OperationFlag.DELIVERY_COMPLETE)) {
            throw new IllegalArgumentException(
                    "without DELIVERY_COMPLETE nobody knows when bytes have arrived: open the"
                            + " domain with SymmetricMemory.hints(), or add the flag to FabricHints.operationFlags");
        }
        CompletionQueue openQueue = null;
        AddressVector openVector = null;
        MemoryRegion openMemory = null;
        MemoryRegion openCell = null;
        Endpoint open = null;
        try {
            queue = openQueue = domain.openCompletionQueue();
            vector = openVector = domain.openAddressVector();
            memory = openMemory = domain.allocate(bytes, Access.READ, Access.WRITE, Access.REMOTE_READ,
                    Access.REMOTE_WRITE);
            cell = openCell = domain.allocate(CELL, Access.READ, Access.WRITE);
            endpoint = open = domain.openEndpoint();
            open.bind(queue).bind(vector).enable();
            ranks = Ranks.exchange(group, endpoint, vector, memory.remote());
            requireSameLength();
            group.job().progressWhileThisThreadWaits(queue);
        } catch (Throwable t) {
            close(open, openCell, openMemory, openVector, openQueue);
            throw t;
        }
    }

    private void requireSameLength() {
        for (int rank = 0; rank < group.size(); rank++) {
            if (ranks.region(rank, 0).length() != memory.length()) {
                throw new JobException(group.names(List.of(rank)) + " has " + ranks.region(rank, 0).length()
                        + " bytes of symmetric memory, and rank " + group.job().rank() + " has " + memory.length()
                        + ": allocate as many at every rank");
            }
        }
    }

    /** {@return hints for a domain with symmetric memory and collectives; add a provider} */
    public static FabricHints hints() {
        return FabricHints.atomics().addCapabilities(Capability.RMA, Capability.TAGGED)
                .operationFlags(OperationFlag.DELIVERY_COMPLETE);
    }

    /**
     * As {@link #allocate(JobGroup, Domain, long, Waiting)}, with {@link Waiting#YIELD}. Where more ranks of the job
     * are on this host than it has processors, it yields between all polls.
     */
    public static SymmetricMemory allocate(JobGroup group, Domain domain, long bytes) {
        return allocate(group, domain, bytes, GroupWait.waiting(group.job()));
    }

    /**
     * {@return memory of this size in each member of a group} It is filled with zeros. Each member calls it, in the
     * same order as other calls of the group; it returns when all have.
     *
     * @param group the group; {@link Job#group} has all ranks
     * @param domain a domain with {@link Capability#RMA} whose operations have {@link OperationFlag#DELIVERY_COMPLETE},
     *         see {@link #hints}. It needs {@link Capability#ATOMIC} for {@link #fetchAdd} and {@link #compareSwap}
     * @param bytes the size, the same at each member
     * @param waiting how calls wait between polls
     * @throws IllegalArgumentException if the domain's operations lack the flag
     * @throws JobException if a member allocates another size, or as {@link Ranks#exchange} throws it
     */
    public static SymmetricMemory allocate(JobGroup group, Domain domain, long bytes, Waiting waiting) {
        return new SymmetricMemory(group, domain, bytes, Objects.requireNonNull(waiting, "waiting"));
    }

    /** Sets the longest time of the calls that begin from now on; otherwise it is the job's deadline. */
    void deadline(Duration longest) {
        wait.deadline(longest);
    }

    /** {@return this rank's memory, which may be the source of a {@link #put} too} */
    public MemoryRegion region() {
        return memory;
    }

    /** {@return the bytes of this rank's memory} */
    public MemorySegment segment() { return memory.segment(); }

    /**
     * Starts writing bytes to a rank's memory; fi_write, fi_rma(3). Leave the source alone until {@link #quiet}.
     *
     * @param rank whose memory
     * @param offset where the bytes go
     * @param local the bytes, of a region of the same domain with {@link Access#WRITE}
     */
    public void put(int rank, long offset, Slice local) {
        begin("put");
        start(true, rank, offset, local);
    }

    /**
     * Starts reading bytes of a rank's memory; fi_read, fi_rma(3). They are there after {@link #quiet}.
     *
     * @param rank whose memory
     * @param offset where the bytes are
     * @param local where they go, in a region of the same domain with {@link Access#READ}
     */
    public void get(int rank, long offset, Slice local) {
        begin("get");
        start(false, rank, offset, local);
    }

    private void start(boolean writes, int rank, long offset, Slice local) {
        Peer peer = ranks.peer(rank);
        RemoteRegion remote = ranks.region(rank, 0);
        try {
            for (int turn = 0; !tryStart(writes, peer, remote, offset, local, rank);) {
                turn = progress(turn, rank); // for a rank that has gone there may never be room
            }
        } catch (FabricException e) {
            throw failed(rank, e);
        }
        started(rank);
    }

    private boolean tryStart(boolean writes, Peer peer, RemoteRegion remote, long offset, Slice local, long token) {
        return writes
                ? endpoint.rma().tryWrite(local.region(), local.offset(), local.length(), peer, remote, offset, token)
                : endpoint.rma().tryRead(local.region(), local.offset(), local.length(), peer, remote, offset, token);
    }

    private void started(int rank) {
        inFlight[rank]++;
        allInFlight++;
    }

    /**
     * Writes bytes to a rank's memory, and then a number before or behind them that tells the rank that they are there:
     * it waits with {@link #awaitSignal}. Returns when both are there.
     *
     * @param rank whose memory
     * @param offset where the bytes go
     * @param local the bytes, as of {@link #put}
     * @param signalOffset where the number goes, a multiple of 8
     * @param signal the number
     */
    public void putThenSignal(int rank, long offset, Slice local, long signalOffset, long signal) {
        if ((signalOffset & Long.BYTES - 1) != 0) {
            throw new IllegalArgumentException("the offset of a number is a multiple of 8, not " + signalOffset);
        }
        begin("put with a signal");
        start(true, rank, offset, local);
        awaitAll();
        cell.segment().set(ValueLayout.JAVA_LONG, 0, signal);
        start(true, rank, signalOffset, cell.slice(0, Long.BYTES));
        awaitAll();
    }

    /**
     * Adds to a number in a rank's memory, atomically among all ranks; fi_fetch_atomic with FI_SUM, fi_atomic(3).
     *
     * @param rank whose memory
     * @param offset of the number, a multiple of 8
     * @param operand what is added
     * @return the number before
     * @throws UnsupportedOperationException if the domain or the provider has no such operation
     */
    public long fetchAdd(int rank, long offset, long operand) {
        begin("fetch-add");
        return ask(AtomicOperation.SUM, rank, offset, operand, 0);
    }

    /**
     * Replaces a number in a rank's memory if it is the expected one, atomically among all ranks; fi_compare_atomic
     * with FI_CSWAP, fi_atomic(3).
     *
     * @param rank whose memory
     * @param offset of the number, a multiple of 8
     * @param expected the number that is replaced
     * @param replacement the new number
     * @return the number before: {@code expected} if it was replaced
     * @throws UnsupportedOperationException if the domain or the provider has no such operation
     */
    public long compareSwap(int rank, long offset, long expected, long replacement) {
        begin("compare-and-swap");
        return ask(AtomicOperation.CSWAP, rank, offset, replacement, expected);
    }

    private long ask(AtomicOperation operation, int rank, long offset, long operand, long expected) {
        Peer peer = ranks.peer(rank);
        RemoteRegion remote = ranks.region(rank, 0);
        isAnswered = false;
        try {
            for (int turn = 0; !tryAsk(operation, peer, remote, offset, operand, expected, ANSWER | rank);) {
                turn = progress(turn, rank);
            }
        } catch (FabricException e) {
            throw failed(rank, e);
        }
        started(rank);
        for (int turn = 0; !isAnswered && failure == null;) {
            turn = progress(turn, rank);
        }
        requireNoFailure();
        return cell.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private boolean tryAsk(AtomicOperation operation, Peer peer, RemoteRegion remote, long offset, long operand,
            long expected, long token) {
        Atomics atomics = endpoint.atomics();
        return operation == AtomicOperation.CSWAP
                ? atomics.tryCompare(operation, Datatype.INT64, operand, expected, cell, 0, peer, remote, offset, token)
                : atomics.tryFetch(operation, Datatype.INT64, operand, cell, 0, peer, remote, offset, token);
    }

    /** Waits until everything that this rank has started is done. */
    public void quiet() {
        begin("quiet");
        awaitAll();
    }

    private void awaitAll() {
        for (int turn = 0; allInFlight > 0 && failure == null;) {
            turn = progress(turn, NOBODY);
        }
        requireNoFailure();
    }

    /**
     * Waits until a number in this rank's memory is as it should be, which another rank's write or atomic operation
     * makes it. What that rank has put before the number is visible then.
     *
     * @param offset of the number, a multiple of 8
     * @param condition what the number should be, such as {@code number -> number == 7}
     * @return the number
     */
    public long awaitSignal(long offset, LongPredicate condition) {
        begin("await of a signal");
        long found = memory.getLongAcquire(offset);
        for (int turn = 0; !condition.test(found); found = memory.getLongAcquire(offset)) {
            turn = progress(turn, NOBODY);
            requireNoFailure();
        }
        return found;
    }

    /** Makes progress, for other ranks too; fi_cq_read, fi_cq(3). It does not wait. */
    public void progress() {
        queue.poll(completions, BATCH);
        requireNoFailure();
    }

    private void begin(String name) {
        if (!isBrokenOff) { requireNoFailure(); }
        if (isBrokenOff) {
            group.job().check(); // it says which rank has gone
            throw new JobException(group.self() + " cannot go on: " + wait.operation()
                    + " did not end. Close the symmetric memory, and allocate another at every rank.");
        }
        wait.begin(name);
    }

    private int progress(int turn, int blocked) {
        try {
            wait.check(blocked);
            if (blocked != NOBODY) { requireNoFailure(); } // there may never be room
            return queue.poll(completions, BATCH) > 0 ? 0 : wait.pause(turn, queue);
        } catch (Throwable t) {
            isBrokenOff = true; // an answer that comes later must not be taken for that of another call
            throw t;
        }
    }

    private String awaited(int blocked) {
        List<Integer> some = blocked != NOBODY
                ? List.of(blocked)
                : IntStream.range(0, inFlight.length).filter(rank -> inFlight[rank] > 0).boxed().toList();
        return some.isEmpty() ? "" : " for " + group.names(some);
    }

    private void requireNoFailure() {
        if (failure != null) { throw failed((int) failure.token(), failure.toException()); }
    }

    private JobException failed(int rank, FabricException cause) {
        isBrokenOff = true;
        return wait.failed(rank, cause);
    }

    /**
     * Closes the endpoint and frees the memory. Call a barrier before, so that no rank still uses this rank's memory.
     */
    @Override
    public void close() {
        group.job().forget(queue);
        close(endpoint, cell, memory, vector, queue);
    }

    private static void close(Endpoint endpoint, MemoryRegion cell, MemoryRegion memory, AddressVector vector,
            CompletionQueue queue) {
        try (queue; vector; memory; cell; endpoint) { // closes the last first; null is skipped
            return;
        }
    }
}
