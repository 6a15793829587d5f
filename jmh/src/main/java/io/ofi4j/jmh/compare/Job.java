package io.ofi4j.jmh.compare;

import java.util.ArrayList;
import java.util.List;

/**
 * Something to measure within one process.
 *
 * @param operation what the user reads
 * @param family what the endpoints can do
 * @param work what the workers call it
 * @param size how many bytes an operation moves
 * @param window how many operations are in flight
 * @param walked how many bytes of other memory are walked before each, or {@link #HOT}
 */
record Job(String operation, Family family, String work, long size, long window, long walked) {
    /** Operations follow each other at once. */
    static final long HOT = -1;
    /** How many bytes the workers' regions have. */
    static final long REGION = 16 << 20;

    private static final int SMALL = 8;
    private static final int RATE_WINDOW = 64;
    private static final int BANDWIDTH_WINDOW = 16;
    private static final List<Long> BANDWIDTHS = List.of(64L << 10, 1L << 20);
    private static final List<Long> ALL_BANDWIDTHS = List.of(256L, 1L << 10, 4L << 10, 16L << 10, 64L << 10, 256L << 10,
            1L << 20);

    private static final List<Long> WALKED = List.of(0L, 16L << 10, 64L << 10, 256L << 10, 1L << 20, 4L << 20);

    Job(String operation, Family family, String work, long size, long window) {
        this(operation, family, work, size, window, HOT);
    }

    /** {@return what is measured with other memory walked before each operation} */
    static List<Job> cold() {
        return all(false).stream().filter(job -> !List.of("poll", "rate", "bandwidth").contains(job.operation)).flatMap(
                job -> WALKED.stream().map(walked -> new Job(job.operation, job.family, job.work, job.size, 1, walked)))
                .toList();
    }

    /** {@return what the user reads} */
    String name() {
        return walked == HOT
                ? operation
                : walked == 0 ? "alone, " + operation : Table.size(walked) + ", then " + operation;
    }

    /** {@return everything, with the bandwidth at more sizes where a picture is to be drawn of it} */
    static List<Job> all(boolean manySizes) {
        List<Job> jobs = new ArrayList<>();
        for (String work : List.of("write", "read", "inject", "writedata", "poll")) {
            jobs.add(new Job(work, Family.RMA, work, work.equals("poll") ? 0 : SMALL, 1));
        }
        jobs.add(new Job("prepared-write", Family.RMA, "prepared", SMALL, 1));
        jobs.add(new Job("rate", Family.RMA, "stream", SMALL, RATE_WINDOW));
        for (long size : manySizes ? ALL_BANDWIDTHS : BANDWIDTHS) {
            jobs.add(new Job("bandwidth", Family.RMA, "stream", size, BANDWIDTH_WINDOW));
        }
        jobs.add(new Job("fetch-add", Family.ATOMIC, "fetchadd", SMALL, 1));
        jobs.add(new Job("message-rate", Family.MSG, "messages", SMALL, RATE_WINDOW));
        jobs.add(new Job("tagged-roundtrip", Family.TAGGED, "roundtrip", SMALL, 1));
        return jobs;
    }

    /** {@return the command that has a worker run so many operations} */
    String command(long count) {
        return walked == HOT
                ? "run " + work + " " + size + " " + window + " " + count
                : "cold " + work + " " + size + " " + walked + " " + count;
    }
}
