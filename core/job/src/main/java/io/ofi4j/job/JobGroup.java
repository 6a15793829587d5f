package io.ofi4j.job;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Some ranks of a {@link Job} in an order of their own, of which this rank is one: {@link Job#split} and
 * {@link Job#hostGroup} make groups, {@link #of} makes one from a list. A member has a rank in the group, from 0.
 * Groups may overlap.
 *
 * <pre>{@code
 * JobGroup host = job.hostGroup();                     // over shm
 * Ranks near = Ranks.exchange(host, shmEndpoint, shmPeers, inbox.remote());
 * try (JobCollectives row = new JobCollectives(job.split(job.rank() / 4, 0), domain)) {
 *     row.allReduce(sums.slice(0, 8), AtomicOperation.SUM, Datatype.DOUBLE);
 * }
 * }</pre>
 *
 * <p>A group is a list and holds nothing open. Its objects do: {@link Ranks}, {@link JobCollectives} and
 * {@link SymmetricMemory} of a group are opened by its members alone, each member in the same order. If a rank of the
 * job is lost, calls of every group throw {@link JobException}, whether it is a member or not.
 */
public final class JobGroup {
    private final Job job;
    private final int[] ranks;
    private final int own;
    /** What the members call their group among others, a text with few characters. */
    private final String name;

    private JobGroup(Job job, int[] ranks, int own) {
        this.job = job;
        this.ranks = ranks;
        this.own = own;
        this.name = isWhole() ? "" : digest(ranks);
    }

    /** All ranks, in their order. */
    static JobGroup all(Job job) {
        return new JobGroup(job, IntStream.range(0, job.size()).toArray(), job.rank());
    }

    /**
     * {@return the group of these ranks of a job} Each member makes it from the same list; nothing is sent.
     *
     * @param job the job
     * @param ranks the ranks, each once, with that of this process; the first has rank 0 in the group
     * @throws IllegalArgumentException if a rank is not in the job, or is there twice, or this process is not there
     */
    public static JobGroup of(Job job, List<Integer> ranks) {
        int[] all = ranks.stream().mapToInt(Integer::intValue).toArray();
        for (int rank : all) {
            if (rank < 0 || rank >= job.size()) {
                throw new IllegalArgumentException(
                        "a group has ranks from 0 to " + (job.size() - 1) + " of its job, not " + rank);
            }
        }
        if (Arrays.stream(all).distinct().count() != all.length) {
            throw new IllegalArgumentException("a rank is in the group twice: " + Arrays.toString(all));
        }
        int own = ranks.indexOf(job.rank());
        if (own < 0) {
            throw new IllegalArgumentException("rank " + job.rank() + " is not in the group " + Arrays.toString(all)
                    + ": only its members make it");
        }
        return new JobGroup(job, all, own);
    }

    private static String digest(int[] ranks) {
        ByteBuffer bytes = ByteBuffer.allocate(ranks.length * Integer.BYTES);
        bytes.asIntBuffer().put(ranks);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every JDK has it
        }
    }

    private boolean isWhole() {
        return ranks.length == job.size() && IntStream.range(0, ranks.length).allMatch(rank -> ranks[rank] == rank);
    }

    /**
     * {@return the values of all members, in the order of the group} It waits until all members have called it.
     *
     * @param call the call that the members make, for messages
     */
    List<byte[]> gather(String call, byte[] value) {
        return isWhole() ? job.gather(call, value) : job.gather(name, ranks, value);
    }

    /** {@return some members as text, each with its process and host} */
    String names(List<Integer> some) {
        return job.names(some.stream().map(rank -> ranks[rank]).toList());
    }

    /** {@return who this rank is, for messages} */
    String self() { return "rank " + job.rank() + " of " + job.size(); }

    /** {@return the job} */
    public Job job() { return job; }

    /** {@return the rank of this process in the group, 0 to {@link #size} - 1} */
    public int rank() { return own; }

    /** {@return the number of members} */
    public int size() { return ranks.length; }

    /** {@return the rank in the job of each member, in the order of the group} */
    public List<Integer> jobRanks() {
        return Arrays.stream(ranks).boxed().toList();
    }

    /**
     * {@return the rank in the job of a member}
     *
     * @throws IndexOutOfBoundsException if there is no such member
     */
    public int jobRank(int rank) { return ranks[Objects.checkIndex(rank, ranks.length)]; }

    /** {@return the rank in this group of a rank of the job; empty if it is no member} */
    public OptionalInt rankOf(int jobRank) {
        return IntStream.range(0, ranks.length).filter(rank -> ranks[rank] == jobRank).findFirst();
    }

    @Override
    public String toString() {
        return "group of the ranks "
                + Arrays.stream(ranks).mapToObj(Integer::toString).collect(Collectors.joining(", ")) + " of "
                + job.size();
    }
}
