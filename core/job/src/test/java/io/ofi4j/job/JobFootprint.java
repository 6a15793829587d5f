package io.ofi4j.job;

import io.ofi4j.support.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * What a job costs without libfabric: rank 0 and one other rank print the time from the start of the process until it
 * has joined, the times of a gathering and of a barrier, and their threads, descriptors and resident memory.
 */
final class JobFootprint {
    /** The message of a rank in {@link Ranks#exchange}, with tcp;ofi_rxm and one region. */
    private static final int MESSAGE_LENGTH = 99;
    private static final int ROUNDS = 21;

    private JobFootprint() {}

    public static void main(String[] arguments) throws IOException {
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow();
        try (Job job = Job.join(Patience.seconds(300))) {
            final long joined = Duration.between(start, Instant.now()).toMillis();
            job.barrier();
            long begin = System.nanoTime();
            job.gather(new byte[MESSAGE_LENGTH]);
            final long gathered = System.nanoTime() - begin;
            long[] nanos = new long[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                long now = System.nanoTime();
                job.barrier();
                nanos[round] = System.nanoTime() - now;
            }
            Arrays.sort(nanos);
            if (job.rank() == 0 || job.rank() == job.size() / 2) {
                System.out.println(String.format(
                        "[%d/%d] joined after %d ms, gathering %.1f ms, barrier %.2f ms, threads %s, descriptors %d,"
                                + " resident %s KiB",
                        job.rank(), job.size(), joined, gathered / 1e6, nanos[ROUNDS / 2] / 1e6, status("Threads"),
                        descriptors(), status("VmRSS")));
            }
            job.barrier();
        }
    }

    private static String status(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith(name + ":"))
                .map(line -> line.replaceAll("\\D", "")).findFirst().orElseThrow();
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }
}
