package io.ofi4j.job;

import io.ofi4j.CompletionQueue;
import io.ofi4j.FabricTimeoutException;
import io.ofi4j.Waiting;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.Launcher;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.Launchers;
import io.ofi4j.job.internal.RendezvousPoint;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The processes that were started together with this one. Each has a rank, from 0.
 *
 * <pre>{@code
 * try (Job job = Job.join()) {
 *     job.progressWhileWaiting(queue); // of the endpoint
 *     Ranks ranks = Ranks.exchange(job, endpoint, peers, inbox.remote());
 *     endpoint.rma().write(source, 0, 64, ranks.peer(1), ranks.region(1, 0), 0, token);
 *     Waiting.YIELD.until(() -> queue.poll(handler, 1) > 0, deadline); // the write has ended here
 *     job.barrier(); // and with DELIVERY_COMPLETE in the endpoint's hints, its bytes are at rank 1
 * }
 * }</pre>
 *
 * <p>The environment says how the process was started. The first of these counts:
 * <ol>
 * <li>{@code OFI4J_RANK}, {@code OFI4J_SIZE}, {@code OFI4J_RENDEZVOUS=host:port} and {@code OFI4J_SECRET}, set by
 * {@code scripts/launch} or by a person: rank 0 listens there.
 * <li>{@code PMIX_NAMESPACE}: PMIx, through {@code libpmix.so.2}; Open MPI's mpirun and {@code srun --mpi=pmix} set it.
 * <li>{@code PMI_FD}: PMI-1; Hydra's mpiexec and {@code srun --mpi=pmi2} set it.
 * <li>Otherwise the process is a job of one. If {@code SLURM_NTASKS}, {@code OMPI_COMM_WORLD_SIZE}, {@code PMI_SIZE} or
 * {@code FLUX_JOB_SIZE} says that there are more processes, {@link #join()} throws.
 * </ol>
 *
 * <p>The launcher tells each process its rank, and brings to all of them the address and a random secret of rank 0,
 * which serves a {@link Rendezvous}. Everything else goes over that rendezvous, with every launcher. If a process ends
 * before it has closed its job, waiting calls of the other processes throw a {@link JobException} with its rank: at
 * once if the connection breaks, otherwise at the deadline.
 *
 * <p>Any thread may call the methods. All ranks call {@link #barrier}, {@link #gather} and {@link Ranks#exchange} in
 * the same order. After {@link #close} every method but accessors throws {@link IllegalStateException}.
 */
public final class Job implements AutoCloseable {
    private static final int MAX_NAME_LENGTH = 200;
    private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(60);
    private static final long GRACE_MILLIS = 3000;
    /** The time that a launcher has for its answer, even if ranks that have not left have used up the deadline. */
    private static final Duration LEAVE_TIME = Duration.ofSeconds(2);
    private static final byte[] NO_DATA = {};

    private final Launcher launcher;
    private final Duration deadline;
    private final JobMembers members;
    private final List<String> hosts;
    private final int localRank;
    private final AtomicInteger gatherings = new AtomicInteger();
    /** Where calls that wait make progress. The array is replaced, never changed. */
    private volatile CompletionQueue[] queues = {};
    /** The values that a job of one has put. */
    private final Map<String, byte[]> own = new ConcurrentHashMap<>();
    private volatile boolean closed;

    private Job(Launcher launcher, Deadline end, JobMembers members) {
        this.launcher = launcher;
        this.deadline = end.duration();
        this.members = members;
        String host = RendezvousPoint.thisHost();
        this.hosts = gather(HostHello.encode(launcher.size(), host), end.left()).stream()
                .map(hello -> HostHello.host(hello, this)).toList();
        this.localRank = (int) hosts.subList(0, rank()).stream().filter(host::equals).count();
    }

    /** The first message of a rank: the size of the job as its launcher gave it, and its host. */
    private static final class HostHello {
        static byte[] encode(int size, String host) {
            byte[] name = host.getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.allocate(Integer.BYTES + name.length).putInt(size).put(name).array();
        }

        static String host(byte[] hello, Job job) {
            ByteBuffer buffer = ByteBuffer.wrap(hello);
            int size = buffer.getInt();
            if (size != job.size()) {
                throw new JobException("a rank was started in a job of " + size + " ranks, and this one in a job of "
                        + job.size() + ": start all of them with the same size");
            }
            return StandardCharsets.UTF_8.decode(buffer).toString();
        }
    }

    /** As {@link #join(Duration)}, with a deadline of 60 seconds. */
    public static Job join() {
        return join(DEFAULT_DEADLINE);
    }

    /**
     * Joins the job that this process was started in.
     *
     * @param deadline the longest wait for other ranks, here and in every later call
     * @throws JobException if the environment is incomplete, the launcher cannot be reached, or not all ranks join in
     *         time
     * @throws IllegalArgumentException if the deadline is not above zero
     * @throws IllegalCallerException if the JVM refuses the native access that PMIx and PMI-1 need
     */
    public static Job join(Duration deadline) { return join(System.getenv(), deadline); }

    /** As {@link #join(Duration)}, with this environment: one process can have several ranks that way. */
    static Job join(Map<String, String> environment, Duration deadline) {
        Deadline end = Deadline.in(Deadline.requireSome(deadline));
        return join(within(end, () -> Launchers.find(environment)), end);
    }

    static Job join(Launcher launcher, Deadline end) {
        if (launcher.size() == 1) { return new Job(launcher, end, null); }
        String who = "rank " + launcher.rank() + " (process " + ProcessHandle.current().pid() + " on "
                + RendezvousPoint.thisHost() + ")";
        JobMembers members = JobMembers.join(launcher, who, end, line -> within(end, () -> launcher.exchange(line)));
        try {
            return new Job(launcher, end, members);
        } catch (RuntimeException e) {
            members.close(Duration.ZERO);
            throw e;
        }
    }

    /** Calls the launcher, which may never return if a rank has gone. Its thread is then abandoned. */
    private static <T> T within(Deadline deadline, Supplier<T> call) {
        CompletableFuture<T> result = elsewhere("ofi4j-launcher", call);
        try {
            return result(result, deadline.nanosLeft());
        } catch (LauncherException e) {
            throw new JobException(e.getMessage(), e);
        } catch (TimeoutException e) {
            throw new JobException(
                    "the launcher did not answer within " + deadline + ": a rank has not started, or has gone", e);
        }
    }

    private static <T> CompletableFuture<T> elsewhere(String thread, Supplier<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name(thread).start(() -> {
            try {
                result.complete(call.get());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        });
        return result;
    }

    private static <T> T result(CompletableFuture<T> result, long nanos) throws TimeoutException {
        try {
            return result.get(nanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IllegalCallerException refusal) { // its stack trace is that of another thread
                throw new IllegalCallerException(refusal.getMessage(), refusal);
            }
            if (e.getCause() instanceof RuntimeException failure) { throw failure; }
            if (e.getCause() instanceof Error error) { throw error; }
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new JobException("the wait was interrupted", e);
        }
    }

    /** {@return the rank of this process, 0 to {@link #size} - 1} */
    public int rank() { return launcher.rank(); }

    /** {@return the number of processes} */
    public int size() { return launcher.size(); }

    /** {@return the number of lower ranks on this host} */
    public int localRank() { return localRank; }

    /** {@return the name of the host of each rank} */
    public List<String> hosts() { return hosts; }

    /**
     * {@return how this process was started, as text: {@code PMIx}, {@code PMI-1}, or the address of the rendezvous}
     */
    public String launcher() { return launcher.name(); }

    /** {@return the longest wait for other ranks} */
    public Duration deadline() { return deadline; }

    /**
     * Makes progress on a queue whenever a call of this job waits: {@link #get}, {@link #barrier}, {@link #gather},
     * {@link Ranks#exchange} and the calls of {@link JobCollectives}. Without it a rank that waits there leaves alone
     * what its endpoints have to do, such as the end of its own writes, or its part in the writes of others: with a
     * provider that does not progress by itself, both ranks can wait for each other. Completions stay in the queue for
     * {@link CompletionQueue#poll}.
     *
     * <p>The calls that wait make the progress in their own thread. With {@link io.ofi4j.info.ThreadingModel#DOMAIN}
     * and {@link io.ofi4j.info.ThreadingModel#COMPLETION}, call them in the thread that uses the queue. {@link #close}
     * makes no progress: wait in a barrier before. A queue that is given twice counts once, and one that was closed is
     * forgotten.
     *
     * @param queue a queue of this rank's endpoints
     */
    public void progressWhileWaiting(CompletionQueue queue) {
        requireOpen();
        Objects.requireNonNull(queue, "queue");
        replaceQueues(others -> Stream.concat(others.filter(other -> other != queue), Stream.of(queue)));
    }

    private synchronized void replaceQueues(UnaryOperator<Stream<CompletionQueue>> change) {
        queues = change.apply(Stream.of(queues)).toArray(CompletionQueue[]::new);
    }

    /** Makes progress on all queues that were given, and forgets those that were closed. */
    void progress() {
        for (CompletionQueue queue : queues) {
            try {
                queue.progress();
            } catch (IllegalStateException e) {
                replaceQueues(all -> all.filter(other -> other != queue));
            }
        }
    }

    /**
     * Publishes a value of this rank, which {@link #get} returns at every rank. It replaces an earlier value of this
     * name.
     *
     * @param name up to 200 bytes of UTF-8
     * @param value up to 65,536 bytes
     * @throws IllegalArgumentException if the name or the value is longer
     * @throws JobException if the job is broken, or its ranks have put 64 MiB already
     */
    public void put(String name, byte[] value) {
        requireOpen();
        requireLength("a name", Objects.requireNonNull(name, "name").getBytes(StandardCharsets.UTF_8), MAX_NAME_LENGTH);
        requireLength("a value", Objects.requireNonNull(value, "value"), Rendezvous.MAX_VALUE_LENGTH);
        if (members == null) {
            own.put(key(0, name), value.clone());
            return;
        }
        call(() -> {
            members.rendezvous().publish(key(rank(), name), value);
            return null;
        });
    }

    /**
     * {@return the value that a rank has put under this name} It waits until there is one.
     *
     * @throws IndexOutOfBoundsException if there is no such rank
     * @throws JobException if there is no value in time, or the job is broken
     */
    public byte[] get(int rank, String name) {
        requireOpen();
        Objects.checkIndex(rank, size());
        if (members != null) { return call(() -> members.rendezvous().await(key(rank, name), deadline)); }
        byte[] value = own.get(key(0, name));
        if (value == null) { throw broken("'" + name + "' was not put, and a job of one has no other rank", null); }
        return value.clone();
    }

    /** Also checked in a job of one rank, so that a program that works with one rank works with several. */
    private static void requireLength(String what, byte[] bytes, int limit) {
        if (bytes.length > limit) {
            throw new IllegalArgumentException(
                    what + " of a rank has at most " + limit + " bytes; this one has " + bytes.length);
        }
    }

    private static String key(int rank, String name) { return rank + "/" + Objects.requireNonNull(name, "name"); }

    /**
     * Waits until all ranks have called this method.
     *
     * @throws JobException if a rank has not called it in time, or the job is broken
     */
    public void barrier() { gather(NO_DATA); }

    /**
     * {@return the values of all ranks, in the order of ranks} It waits until all ranks have called it.
     *
     * @param value the value of this rank, up to 65,536 bytes
     * @throws IllegalArgumentException if it is longer
     * @throws JobException if a rank has not called it in time, or the job is broken
     */
    public List<byte[]> gather(byte[] value) {
        requireOpen();
        requireLength("a value", Objects.requireNonNull(value, "value"), Rendezvous.MAX_VALUE_LENGTH);
        return gather(value, deadline);
    }

    private List<byte[]> gather(byte[] value, Duration limit) {
        if (members == null) { return List.of(value.clone()); }
        String name = "gathering " + gatherings.getAndIncrement();
        return call(() -> members.rendezvous().gather(name, rank(), size(), value, limit));
    }

    /**
     * Checks that no rank has ended before it has closed its job. Call it now and then in a loop that waits for other
     * ranks. It only reads a field.
     *
     * @throws JobException if a rank has ended, with its number
     */
    public void check() {
        requireOpen();
        if (members != null && members.lost() != null) { throw broken(members.lost(), null); }
    }

    private <T> T call(Supplier<T> work) {
        try {
            return queues.length == 0 ? work.get() : withProgress(work);
        } catch (FabricTimeoutException e) {
            throw broken(e.getMessage(), e);
        } catch (RendezvousException e) {
            throw broken(members.why(e), e);
        }
    }

    /** Runs a call on another thread, and makes progress on this thread until the call ends. */
    private <T> T withProgress(Supplier<T> work) {
        progress(); // a refusal by a queue, such as a wrong thread, is thrown before the call begins
        CompletableFuture<T> result = elsewhere("ofi4j-job-call", work);
        for (int turn = 0; !result.isDone(); turn = turn + 1 & Integer.MAX_VALUE) {
            if (Thread.currentThread().isInterrupted()) { break; }
            progress();
            Waiting.BACKOFF.pause(turn);
        }
        try {
            return result(result, Long.MAX_VALUE);
        } catch (TimeoutException e) { // every call has a deadline of its own
            throw new AssertionError(e);
        }
    }

    private JobException broken(String why, RuntimeException cause) {
        return new JobException("rank " + rank() + " of " + size() + " cannot go on: " + why, cause);
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Ends the job because of a failure. Waiting calls of the other ranks throw a {@link JobException} with the reason,
     * the launcher is told to end them, and this process ends with the code, as by {@link System#exit}, after at most
     * three seconds. It never returns.
     *
     * @param code the status of the process, 1 to 255
     * @param why the reason, not empty
     * @throws IllegalArgumentException if the code is out of range, or the reason is empty
     */
    public void abort(int code, String why) {
        if (code < 1 || code > 255) {
            throw new IllegalArgumentException("the exit code of an abort must be 1 to 255, not " + code);
        }
        if (why.isBlank()) { throw new IllegalArgumentException("the reason of an abort is blank: pass a reason"); }
        if (members != null && !closed) {
            members.fail(why);
            Thread.ofPlatform().daemon().start(() -> launcher.abort(code, why));
        }
        Thread.ofPlatform().daemon().start(() -> System.exit(code)); // shutdown hooks remove the files of endpoints
        pause(GRACE_MILLIS);
        Runtime.getRuntime().halt(code);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Leaves the job. Ranks that wait for this rank, now or later, get a {@link JobException}. Rank 0 serves the other
     * ranks: there it waits until all have left or were lost, at most until the deadline.
     *
     * @throws JobException if the launcher does not answer before the deadline; the job is closed nevertheless
     */
    @Override
    public void close() {
        if (closed) { return; }
        closed = true;
        Deadline end = Deadline.in(deadline);
        if (members != null) { members.close(end.left()); }
        if (size() > 1) {
            within(end.atLeast(LEAVE_TIME), () -> {
                launcher.finish();
                return null;
            });
        }
    }

    @Override
    public String toString() { return "Job, rank " + rank() + " of " + size() + ", started by " + launcher(); }
}
