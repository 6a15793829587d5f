package io.ofi4j.job;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.Tagged;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;

/**
 * Collective operations of all ranks of a {@link Job} or of a {@link JobGroup}, with plain algorithms over
 * {@link Tagged tagged messages}. They work over every provider with tags, with any number of ranks and any size.
 *
 * <pre>{@code
 * try (JobCollectives all = new JobCollectives(job, domain)) {           // a domain with Capability.TAGGED
 *     all.allReduce(gradients.slice(0, bytes), AtomicOperation.SUM, Datatype.FLOAT);
 * }
 * }</pre>
 *
 * <table>
 * <caption>Algorithms; N ranks</caption>
 * <tr><th>operation</th><th>algorithm</th><th>steps</th></tr>
 * <tr><td>barrier</td><td>dissemination</td><td>log N</td></tr>
 * <tr><td>broadcast, reduce</td><td>binomial tree</td><td>log N</td></tr>
 * <tr><td>all-reduce to 16 KiB</td><td>recursive doubling</td><td>log N, and two if N is no power of two</td></tr>
 * <tr><td>all-reduce beyond</td><td>ring: reduce-scatter, then all-gather</td><td>2 (N - 1)</td></tr>
 * <tr><td>reduce-scatter, all-gather</td><td>ring</td><td>N - 1</td></tr>
 * <tr><td>scatter, gather</td><td>linear</td><td>1, in which the root speaks to all</td></tr>
 * <tr><td>all-to-all</td><td>pairwise exchange</td><td>N - 1</td></tr>
 * </table>
 *
 * <p>In trees and rings, long blocks are cut into segments of 512 KiB, which go on while others arrive. Over ofi_rxm,
 * blocks of up to 64 KiB are cut into segments of 16 KiB, which it sends without a request of the receiver.
 *
 * <p>An object has an endpoint, a queue and a vector of its own, and memory for bytes that arrive. Slices are of
 * regions of the same domain, with {@link Access#SEND} and {@link Access#RECEIVE}, and have the same length at every
 * rank. All ranks call the same operations in the same order. An operation returns when this rank's part is done; only
 * {@link #barrier} says that the other ranks have called it.
 *
 * <p><b>Threads.</b> One thread at a time may use it. With a threading model other than SAFE that is the domain's
 * thread; others get {@link WrongThreadException}.
 *
 * <p><b>Errors.</b> The job's deadline is that of a whole operation, from its start. Every operation throws
 * {@link JobException}, which names the operation and the ranks that it waits for, with their processes and hosts, if a
 * rank has gone, the deadline passes, the waiting thread is interrupted (its interrupt status stays set), or an earlier
 * operation did not end, such as one whose reduction has thrown; close the object then. A rank that it waits for may
 * itself wait for another one. It throws {@link IllegalArgumentException} if lengths do not match,
 * {@link IndexOutOfBoundsException} if there is no such root, {@link IllegalStateException} once it is closed, and what
 * {@link Tagged#send} throws for regions that are closed or lack rights.
 */
public final class JobCollectives implements AutoCloseable {
    /** All-reduce of more bytes uses the ring. */
    private static final long MIN_RING_LENGTH = 16 << 10;
    /** Messages of a linear gather or scatter that are in flight at once. */
    private static final int MAX_POSTED = 64;

    private final GroupMessages messages;
    private final int rank;
    private final int size;

    /** As {@link #JobCollectives(JobGroup, Domain)}, of all ranks. */
    public JobCollectives(Job job, Domain domain) {
        this(job.group(), domain);
    }

    /** As {@link #JobCollectives(JobGroup, Domain, Waiting)}, of all ranks. */
    public JobCollectives(Job job, Domain domain, Waiting waiting) {
        this(job.group(), domain, waiting);
    }

    /**
     * As {@link #JobCollectives(JobGroup, Domain, Waiting)}, with {@link Waiting#YIELD}. Where more ranks of the job
     * are on this host than it has processors, it yields between all polls.
     */
    public JobCollectives(JobGroup group, Domain domain) { this(group, domain, GroupWait.waiting(group.job())); }

    /**
     * Opens an endpoint, and exchanges its address with all members of a group. Every member calls it, and no other
     * rank: what is said here of all ranks holds for the members, and roots are ranks in the group.
     *
     * @param group the group
     * @param domain a domain with {@link Capability#TAGGED}, see {@link FabricHints#tagged}
     * @param waiting how it waits between polls
     * @throws UnsupportedOperationException if the domain has no tags
     * @throws JobException as {@link Ranks#exchange} does
     */
    public JobCollectives(JobGroup group, Domain domain, Waiting waiting) {
        this.rank = group.rank();
        this.size = group.size();
        this.messages = new GroupMessages(group, domain, Objects.requireNonNull(waiting), MIN_RING_LENGTH);
    }

    /** Sets the longest time of the operations that begin from now on; otherwise it is the job's deadline. */
    void deadline(Duration longest) {
        messages.deadline(longest);
    }

    /** Waits until all ranks have called it. */
    public void barrier() {
        messages.begin("barrier");
        MemoryRegion scratch = messages.scratch(2);
        int step = 0;
        for (int distance = 1; distance < size; distance *= 2) {
            messages.receive((rank - distance + size) % size, step, scratch, 1, 1);
            messages.send((rank + distance) % size, step, scratch, 0, 1);
            messages.await();
            step++;
        }
    }

    /**
     * Sends the bytes of the root to all ranks.
     *
     * @param data the source at the root, the target at the other ranks
     * @param root the rank that sends
     */
    public void broadcast(Slice data, int root) {
        Objects.requireNonNull(data, "data");
        begin("broadcast", root);
        new Tree(messages, data, 1, rank, size, root).spread();
    }

    private void begin(String operation, int root) {
        Objects.checkIndex(root, size);
        messages.begin(operation);
    }

    private void send(int to, Slice data) { messages.send(to, 0, data.region(), data.offset(), data.length()); }

    private void receive(int from, Slice data) {
        messages.receive(from, 0, data.region(), data.offset(), data.length());
    }

    /** As {@link #reduce(Slice, Reduction, int)}, with an atomic operation. */
    public void reduce(Slice data, AtomicOperation operation, Datatype datatype, int root) {
        reduce(data, Reduction.of(operation, datatype), root);
    }

    /**
     * Combines the elements of all ranks. At the root, the results replace the elements. At the other ranks, partial
     * results replace them.
     */
    public void reduce(Slice data, Reduction reduction, int root) {
        requireElements(data.length(), reduction);
        begin("reduce", root);
        new Tree(messages, data, reduction.elementSize(), rank, size, root).combine(reduction);
    }

    /** As {@link #allReduce(Slice, Reduction)}, with an atomic operation. */
    public void allReduce(Slice data, AtomicOperation operation, Datatype datatype) {
        allReduce(data, Reduction.of(operation, datatype));
    }

    /** Combines the elements of all ranks. At every rank, the results replace the elements. */
    public void allReduce(Slice data, Reduction reduction) {
        long elements = requireElements(data.length(), reduction);
        messages.begin("all-reduce");
        if (data.length() <= MIN_RING_LENGTH || elements < size) {
            doubling(data, reduction);
        } else {
            new Ring(messages, data, reduction.elementSize(), rank, size, rank).pass(2 * (size - 1), size - 1,
                    reduction);
        }
    }

    /**
     * Recursive doubling. Where the number of ranks is no power of two, each even one of the surplus ranks lends its
     * elements to the next.
     */
    private void doubling(Slice data, Reduction reduction) {
        int power = Integer.highestOneBit(size);
        int extra = size - power;
        if (rank < 2 * extra && rank % 2 == 0) {
            messages.send(rank + 1, 0, data.region(), data.offset(), data.length());
            messages.receive(rank + 1, 1, data.region(), data.offset(), data.length());
            messages.await();
            return;
        }
        if (rank < 2 * extra) { combine(rank - 1, 0, data, reduction, false); }
        int virtual = rank < 2 * extra ? rank / 2 : rank - extra;
        int step = 2;
        for (int bit = 1; bit < power; bit *= 2) {
            int partner = virtual ^ bit;
            combine(partner < extra ? 2 * partner + 1 : partner + extra, step++, data, reduction, true);
        }
        if (rank < 2 * extra) { messages.send(rank - 1, 1, data.region(), data.offset(), data.length()); }
        messages.await();
    }

    /**
     * Combines the elements of a partner, who may do the same. The lower rank's elements come first, so that both get
     * the same bits.
     */
    private void combine(int partner, int step, Slice data, Reduction reduction, boolean mutual) {
        long length = data.length();
        MemoryRegion other = messages.scratch(length);
        messages.receive(partner, step, other, 0, length);
        if (mutual) { messages.send(partner, step, data.region(), data.offset(), length); }
        messages.await();
        MemorySegment own = data.segment();
        MemorySegment theirs = other.segment().asSlice(0, length);
        if (partner < rank) {
            messages.combine(reduction, theirs, own);
            own.copyFrom(theirs);
        } else {
            messages.combine(reduction, own, theirs);
        }
    }

    /** As {@link #reduceScatter(Slice, Slice, Reduction)}, with an atomic operation. */
    public void reduceScatter(Slice all, Slice mine, AtomicOperation operation, Datatype datatype) {
        reduceScatter(all, mine, Reduction.of(operation, datatype));
    }

    /**
     * Combines the elements of all ranks, and gives each rank its block of the results.
     *
     * @param all a block for each rank; overwritten with partial results
     * @param mine gets the block of this rank
     */
    public void reduceScatter(Slice all, Slice mine, Reduction reduction) {
        requireElements(mine.length(), reduction);
        requireBlocks(all, mine);
        messages.begin("reduce-scatter");
        Ring ring = new Ring(messages, all, reduction.elementSize(), rank, size, Math.floorMod(rank - 1, size));
        ring.pass(size - 1, size - 1, reduction); // the last block that arrives is this rank's
        mine.segment().copyFrom(all.segment().asSlice(rank * mine.length(), mine.length()));
    }

    /**
     * Collects the bytes of all ranks at every rank, in the order of ranks.
     *
     * @param mine the block of this rank; it may be this rank's block in the target, and must not overlap another one
     * @param all gets a block of each rank
     */
    public void allGather(Slice mine, Slice all) {
        requireBlocks(all, mine);
        messages.begin("all-gather");
        new Ring(messages, all, 1, rank, size, rank, mine).pass(size - 1, 0, null);
    }

    /**
     * Collects the bytes of all ranks at the root, in the order of ranks.
     *
     * @param mine the block of this rank
     * @param all at the root, gets a block of each rank; ignored at other ranks, where it may be null
     * @param root the rank that collects
     */
    public void gather(Slice mine, Slice all, int root) {
        begin("gather", root);
        if (rank != root) {
            send(root, mine);
        } else {
            requireBlocks(all, mine);
            all.segment().asSlice(rank * mine.length(), mine.length()).copyFrom(mine.segment());
            forOthers((other, offset) -> messages.receive(other, 0, all.region(), all.offset() + offset, mine.length()),
                    mine.length());
        }
        messages.await();
    }

    /**
     * Sends each rank its block of the root's bytes.
     *
     * @param all at the root, a block for each rank; ignored at other ranks, where it may be null
     * @param mine gets the block of this rank
     * @param root the rank that sends
     */
    public void scatter(Slice all, Slice mine, int root) {
        begin("scatter", root);
        if (rank != root) {
            receive(root, mine);
        } else {
            requireBlocks(all, mine);
            mine.segment().copyFrom(all.segment().asSlice(rank * mine.length(), mine.length()));
            forOthers((other, offset) -> messages.send(other, 0, all.region(), all.offset() + offset, mine.length()),
                    mine.length());
        }
        messages.await();
    }

    /** Posts an operation for another rank, whose block begins at this offset. */
    private interface Block {
        void post(int other, long offset);
    }

    private void forOthers(Block block, long length) {
        int posted = 0;
        for (int other = 0; other < size; other++) {
            if (other == rank) { continue; }
            block.post(other, other * length);
            if (++posted % MAX_POSTED == 0) { messages.await(); }
        }
    }

    /**
     * Sends a block of this rank's bytes to each rank, and gets one from each.
     *
     * @param from a block for each rank
     * @param to gets a block of each rank; must not overlap the source
     */
    public void allToAll(Slice from, Slice to) {
        if (from.length() != to.length() || from.length() % size != 0) {
            throw new IllegalArgumentException(
                    "all-to-all of " + size + " ranks needs slices of equal length that divide into " + size
                            + " blocks, not " + from.length() + " and " + to.length() + " bytes");
        }
        messages.begin("all-to-all");
        long length = from.length() / size;
        to.segment().asSlice(rank * length, length).copyFrom(from.segment().asSlice(rank * length, length));
        for (int step = 1; step < size; step++) {
            int source = Math.floorMod(rank - step, size);
            int target = (rank + step) % size;
            messages.receive(source, step, to.region(), to.offset() + source * length, length);
            messages.send(target, step, from.region(), from.offset() + target * length, length);
            messages.await();
        }
    }

    private static long requireElements(long bytes, Reduction reduction) {
        if (bytes % reduction.elementSize() != 0) {
            throw new IllegalArgumentException(
                    bytes + " bytes are not a multiple of the element size, " + reduction.elementSize() + " bytes");
        }
        return bytes / reduction.elementSize();
    }

    private void requireBlocks(Slice all, Slice mine) {
        if (all.length() != mine.length() * size) {
            throw new IllegalArgumentException(size + " blocks of " + mine.length() + " bytes need a slice of "
                    + mine.length() * size + " bytes, not " + all.length());
        }
    }

    /** Closes the endpoint. After a failure, its messages in flight are canceled. */
    @Override
    public void close() { messages.close(); }
}
