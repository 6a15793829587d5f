package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.Ranks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * Heat that spreads over a plate, computed by the ranks of a job. Shows a halo exchange by RMA: each rank has some
 * rows, writes its outer ones straight into its neighbours' memory, and learns from the data of their writes that
 * theirs have come. There is no barrier and no message. The result is compared with that of one process, bit by bit.
 */
public final class HeatEquation {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final double CONDUCTIVITY = 0.2;

    private final Job job;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final MemoryRegion plate;
    private final Ranks ranks;
    private final int width;
    /** Rows of this rank, without the halo above and below. */
    private final int rows;
    private final int neighbours;
    /** Halos that have come, for even states and odd ones: a neighbour is ahead by one at most. */
    private final int[] arrived = new int[2];
    private int written;

    private HeatEquation(Job job, Endpoint endpoint, CompletionQueue queue, MemoryRegion plate, Ranks ranks,
            int width) {
        this.job = job;
        this.endpoint = endpoint;
        this.queue = queue;
        this.plate = plate;
        this.ranks = ranks;
        this.width = width;
        this.rows = rowsOf(job.rank());
        this.neighbours = (job.rank() > 0 ? 1 : 0) + (job.rank() < job.size() - 1 ? 1 : 0);
    }

    /**
     * Runs one rank.
     *
     * @param arguments the provider, the width and height of the plate in cells, and how many steps
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: HeatEquation PROVIDER WIDTH STEPS");
            System.exit(2);
        }
        int width = Integer.parseInt(arguments[1]);
        int steps = Integer.parseInt(arguments[2]);
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).capabilities(Capability.RMA, Capability.TAGGED);
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion plate = domain.allocate(bytes(width, job.size()), Access.WRITE, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                JobCollectives all = new JobCollectives(job, domain);
                MemoryRegion numbers = domain.allocate(16, Access.SEND, Access.RECEIVE)) {
            Ranks ranks = Ranks.exchange(job, endpoint, peers, plate.remote());
            HeatEquation heat = new HeatEquation(job, endpoint, queue, plate, ranks, width);
            all.barrier();
            long start = System.nanoTime();
            heat.run(steps);
            double seconds = (System.nanoTime() - start) / 1e9;
            heat.report(all, numbers, seconds, steps);
            job.barrier(); // nobody closes what a neighbour still writes to
        }
    }

    /** Two states, each with the rows of the rank that has most and two rows of halo. */
    private static long bytes(int width, int size) {
        return 2L * ((width + size - 1) / size + 2) * width * Double.BYTES;
    }

    private int rowsOf(int rank) { return firstRow(rank + 1) - firstRow(rank); }

    private int firstRow(int rank) { return (int) ((long) width * rank / job.size()); }

    /** Where a row of a state begins, 0 being the halo above; the same at every rank. */
    private long offset(int state, int row) {
        long rowsOfState = plate.length() / 2 / width / Double.BYTES;
        return (state % 2 * rowsOfState + row) * width * Double.BYTES;
    }

    // @start region=exchange
    private void run(int steps) {
        for (int row = 1; row <= rows; row++) {
            for (int column = 0; column < width; column++) {
                set(plate.segment(), offset(0, row), column, initial(firstRow(job.rank()) + row - 1, column));
            }
        }
        exchange(0);
        for (int state = 1; state <= steps; state++) {
            for (int row = 1; row <= rows; row++) {
                spread(plate.segment(), offset(state - 1, row - 1), offset(state - 1, row), offset(state - 1, row + 1),
                        offset(state, row));
            }
            exchange(state);
        }
    }

    /**
     * Brings the outer rows of a state to the neighbours, and waits for theirs. Two states suffice: a neighbour writes
     * the next one's rows once it has these, so this rank has read the rows that they replace.
     */
    private void exchange(int state) {
        int rank = job.rank();
        if (rank > 0) { write(state, 1, rank - 1, rowsOf(rank - 1) + 1); }
        if (rank < job.size() - 1) { write(state, rows, rank + 1, 0); }
        Waiting.YIELD.until(() -> {
            job.check(); // a neighbour that has died is named
            queue.poll(completions, 8);
            return arrived[state % 2] == neighbours && written == neighbours;
        }, SOON);
        arrived[state % 2] = 0;
        written = 0;
    }

    private void write(int state, int row, int rank, int haloThere) {
        endpoint.rma().writeData(plate.slice(offset(state, row), (long) width * Double.BYTES), state % 2,
                ranks.peer(rank), ranks.region(rank, 0).slice(offset(state, haloThere), (long) width * Double.BYTES),
                0);
    }

    private final CompletionHandler completions = (token, flags, length, data) -> {
        if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
            arrived[(int) data]++;
        } else {
            written++;
        }
    };
    // @end

    /**
     * A row of the next state from three of this one. The edges of the plate keep their heat; its first and last row
     * see 0 beyond.
     */
    private void spread(MemorySegment memory, long above, long here, long below, long to) {
        set(memory, to, 0, get(memory, here, 0));
        for (int column = 1; column < width - 1; column++) {
            double own = get(memory, here, column);
            double around = get(memory, above, column) + get(memory, below, column) + get(memory, here, column - 1)
                    + get(memory, here, column + 1);
            set(memory, to, column, own + CONDUCTIVITY * (around - 4 * own));
        }
        set(memory, to, width - 1, get(memory, here, width - 1));
    }

    private static double initial(int row, int column) { return (row * 31 + column * 17) % 100; }

    private static double get(MemorySegment memory, long row, int column) {
        return memory.get(ValueLayout.JAVA_DOUBLE, row + (long) column * Double.BYTES);
    }

    private static void set(MemorySegment memory, long row, int column, double value) {
        memory.set(ValueLayout.JAVA_DOUBLE, row + (long) column * Double.BYTES, value);
    }

    /** How many cells of this rank differ from what one process computes. */
    private long differences(int steps) {
        int height = width + 2;
        MemorySegment alone = MemorySegment.ofArray(new double[2 * height * width]);
        long row = (long) width * Double.BYTES;
        for (int i = 0; i < width * width; i++) {
            set(alone, (i / width + 1) * row, i % width, initial(i / width, i % width));
        }
        for (int state = 1; state <= steps; state++) {
            long from = (state - 1) % 2 * height * row;
            for (int i = 1; i <= width; i++) {
                spread(alone, from + (i - 1) * row, from + i * row, from + (i + 1) * row,
                        state % 2 * height * row + i * row);
            }
        }
        long count = 0;
        for (int i = 1; i <= rows; i++) {
            for (int column = 0; column < width; column++) {
                double expected = get(alone, (steps % 2 * height + firstRow(job.rank()) + i) * row, column);
                count += get(plate.segment(), offset(steps, i), column) == expected ? 0 : 1;
            }
        }
        return count;
    }

    /** The slowest rank's time and everybody's differences. */
    private void report(JobCollectives all, MemoryRegion numbers, double seconds, int steps) {
        MemorySegment memory = numbers.segment();
        memory.set(ValueLayout.JAVA_DOUBLE, 0, seconds);
        memory.set(ValueLayout.JAVA_LONG, 8, differences(steps));
        all.allReduce(numbers.slice(0, 8), AtomicOperation.MAX, Datatype.DOUBLE);
        all.allReduce(numbers.slice(8, 8), AtomicOperation.SUM, Datatype.INT64);
        double slowest = memory.get(ValueLayout.JAVA_DOUBLE, 0);
        long wrong = memory.get(ValueLayout.JAVA_LONG, 8);
        if (job.rank() == 0) {
            System.out.printf(
                    "%d ranks, %d x %d cells, %d steps: %.3f s, %.1f million cells/s, %d cells differ from one process%n",
                    job.size(), width, width, steps, slowest, (double) width * width * steps / slowest / 1e6, wrong);
        }
        if (wrong != 0) { throw new IllegalStateException(wrong + " cells are wrong"); }
    }
}
