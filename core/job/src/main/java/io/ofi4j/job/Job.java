package io.ofi4j.job;

import io.ofi4j.CompletionQueue;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.HelperThread;
import io.ofi4j.job.internal.JobEngine;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.Launchers;
import io.ofi4j.job.internal.Meeting;
import io.ofi4j.job.internal.ThisHost;
import io.ofi4j.job.internal.Wait;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The processes that were started together with this one. Each has a rank, from 0.
 *
 * <pre>{@code
 * try (Job job = Job.join()) {
 *     job.progressWhileWaiting(queue); // of the endpoint
 *     Ranks ranks = Ranks.exchange(job, endpoint, peers, inbox.remote());
 *     endpoint.rma().write(source.slice(0, 64), ranks.peer(1), ranks.region(1, 0), token);
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
 * <p>With PMIx and PMI-1, ranks exchange values through the launcher, and no rank serves the others. In a job of {@code
 * OFI4J_*} variables, rank 0 serves a {@link Rendezvous}, for up to 512 ranks.
 *
 * <p>If a process ends before it has closed its job, calls of the other processes that wait for it throw a
 * {@link JobException}: at once if rank 0 or the launcher reports it, otherwise at the deadline. It names the rank, its
 * process and its host, except with PMI-1, which does not tell who is missing in a barrier.
 *
 * <p>Put and gather little, at the start of a program: launchers keep all values, and PMIx sends all of them again with
 * each barrier. {@link JobCollectives} is for what a program does often.
 *
 * <p>Any thread may call the methods. All ranks call {@link #barrier}, {@link #gather}, {@link #split} and
 * {@link Ranks#exchange} in the same order, one at a time. After {@link #close} every method but accessors and
 * {@link #abort} throws {@link IllegalStateException}.
 */
public final class Job implements AutoCloseable {
    private static final int MAX_NAME_LENGTH = 200;
    private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(60);
    private static final long GRACE_MILLIS = 3000;
    /** The time to leave a job that was not joined. */
    private static final Duration LEAVE_TIME = Duration.ofSeconds(2);
    private static final int MAX_NAMED = 16;
    private static final AtomicBoolean JOINED = new AtomicBoolean();
    private static final String VALUES = "value/";
    private static final String HELLOS = "hello/";
    private static final String GROUPS = "group/";

    private final JobEngine engine;
    private final Duration deadline;
    private final List<RankProcess> processes;
    private final List<String> hosts;
    private final int localRank;
    /** The names that were put. */
    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextHello = new AtomicInteger();
    /** Higher than the number of each exchange that this rank took part in. */
    private final AtomicInteger nextExchange = new AtomicInteger(1);
    /** How often the members of a group have gathered values, by the group's name. */
    private final Map<String, Integer> gatherings = new ConcurrentHashMap<>();
    /** Where calls that wait make progress. The array is replaced, never changed. */
    private volatile WaitingQueue[] queues = {};
    /** Why this rank may not be in step with the others any more; null if it is. */
    private volatile Failure failed;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param user the thread that makes progress on it; null for any that waits */
    private record WaitingQueue(CompletionQueue queue, Thread user) {}

    /** A call of all ranks that has failed. */
    private record Failure(String call, LauncherException cause) {}

    private Job(JobEngine engine, Deadline end) {
        this.engine = engine;
        this.deadline = end.duration();
        this.processes = processes(engine, end);
        this.hosts = processes.stream().map(RankProcess::host).toList();
        this.localRank = (int) IntStream.range(0, rank()).filter(this::isOnThisHost).count();
    }

    /**
     * The first message of a rank: the size of the job as its launcher gave it, its process, its host, and the start of
     * that machine: images of machines may all have one name.
     */
    private record RankProcess(int size, long process, String host, String boot) {
        static RankProcess own(int size) {
            return new RankProcess(size, ProcessHandle.current().pid(), ThisHost.name(), ThisHost.boot());
        }

        byte[] encode() {
            byte[] where = (host + "\n" + boot).getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.allocate(Integer.BYTES + Long.BYTES + where.length).putInt(size).putLong(process)
                    .put(where).array();
        }

        static RankProcess decode(byte[] hello) {
            ByteBuffer buffer = ByteBuffer.wrap(hello);
            int size = buffer.getInt();
            long process = buffer.getLong();
            String[] where = StandardCharsets.UTF_8.decode(buffer).toString().split("\n", 2);
            return new RankProcess(size, process, where[0], where.length > 1 ? where[1] : "");
        }

        boolean isOnHostOf(RankProcess other) { return host.equals(other.host) && boot.equals(other.boot); }
    }

    private boolean isOnThisHost(int rank) { return processes.get(rank).isOnHostOf(processes.get(rank())); }

    private static List<RankProcess> processes(JobEngine engine, Deadline end) {
        RankProcess own = RankProcess.own(engine.size());
        List<RankProcess> all = engine.gather(own.encode(), new Wait(end, null)).stream().map(RankProcess::decode)
                .toList();
        for (RankProcess other : all) {
            if (other.size() != own.size()) {
                throw new LauncherException("a rank was started in a job of " + other.size()
                        + " ranks, and this one in a job of " + own.size() + ": start all of them with the same size");
            }
        }
        return all;
    }

    /** As {@link #join(Duration)}, with a deadline of 60 seconds. */
    public static Job join() {
        return join(DEFAULT_DEADLINE);
    }

    /**
     * Joins the job that this process was started in. A process joins once, whoever has started it, also if it has
     * closed the job or the call has failed: launchers do not let it come again. Only where nothing says that the
     * process was started together with others, each call gives a job of one.
     *
     * @param deadline the longest wait for other ranks, here and in every later call
     * @throws JobException if the environment is incomplete, the launcher cannot be reached, or not all ranks join in
     *         time, or the process has called this before
     * @throws IllegalArgumentException if the deadline is not above zero
     * @throws IllegalCallerException if the JVM refuses the native access that PMIx and PMI-1 need
     */
    public static Job join(Duration deadline) {
        Map<String, String> environment = System.getenv();
        Deadline.requireSome(deadline);
        if (Launchers.isStarted(environment) && JOINED.getAndSet(true)) {
            throw new JobException("this process has joined its job before, or has tried to: a process joins once,"
                    + " also after close. Hand the Job on to those who need it.");
        }
        return join(environment, deadline);
    }

    /** As {@link #join(Duration)}, with this environment: one process can have several ranks that way. */
    static Job join(Map<String, String> environment, Duration deadline) {
        Deadline end = Deadline.in(Deadline.requireSome(deadline));
        try {
            return join(Launchers.find(environment, end, meeting -> meet(meeting, end)), end);
        } catch (LauncherException e) {
            throw new JobException(e.getMessage(), e);
        }
    }

    private static JobEngine meet(Meeting meeting, Deadline end) {
        String who = name(meeting.rank(), ProcessHandle.current().pid(), ThisHost.name());
        return RendezvousEngine.join(meeting, who, end);
    }

    static Job join(JobEngine engine, Deadline end) {
        try {
            return new Job(engine, end);
        } catch (LauncherException e) {
            leaveQuietly(engine);
            throw new JobException("rank " + engine.rank() + " of " + engine.size() + " did not join: "
                    + (e.ranks().isEmpty() ? "" : numbers(e.ranks()) + " ") + e.getMessage(), e);
        }
    }

    private static void leaveQuietly(JobEngine engine) {
        try {
            engine.leave(Deadline.in(LEAVE_TIME), null);
        } catch (LauncherException e) {
            return; // why this rank did not join is said already
        }
    }

    private static String name(int rank, long process, String host) {
        return "rank " + rank + " (process " + process + " on " + host + ")";
    }

    /** {@return the numbers of some ranks as text; the first of them if there are many} */
    private static String numbers(List<Integer> some) {
        return listed(some, other -> "rank " + other);
    }

    private static String listed(List<Integer> some, IntFunction<String> name) {
        String first = some.stream().limit(MAX_NAMED).map(name::apply).collect(Collectors.joining(", "));
        return first + (some.size() > MAX_NAMED ? " and " + (some.size() - MAX_NAMED) + " more" : "");
    }

    /** {@return what has failed, with the process and the host of each rank that it is about} */
    private String why(LauncherException failure) {
        if (failure.ranks().isEmpty()) { return failure.getMessage(); }
        return names(failure.ranks()) + " " + failure.getMessage();
    }

    private String why(Failure failure) { return failure.call + " failed: " + why(failure.cause); }

    /** {@return some ranks as text, each with its process and host; the first of them if there are many} */
    String names(List<Integer> some) {
        return listed(some, other -> name(other, processes.get(other).process(), hosts.get(other)));
    }

    /** {@return the rank of this process, 0 to {@link #size} - 1} */
    public int rank() { return engine.rank(); }

    /** {@return the number of processes} */
    public int size() { return engine.size(); }

    /** {@return the number of lower ranks on this host} */
    public int localRank() { return localRank; }

    /** {@return the name of the host of each rank} Two machines may have one name: see {@link #hostGroup}. */
    public List<String> hosts() {
        return hosts;
    }

    /**
     * {@return how this process was started, as text for people: {@code PMIx}, {@code PMI-1}, the {@code OFI4J_*}
     * variable that was found, or that there is no launcher}
     */
    public String launcher() { return engine.name(); }

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
     * forgotten. Those of {@link JobCollectives} and {@link SymmetricMemory} need not be given: a thread that waits
     * makes progress on what it has opened.
     *
     * @param queue a queue of this rank's endpoints
     */
    public void progressWhileWaiting(CompletionQueue queue) {
        requireOpen();
        Objects.requireNonNull(queue, "queue");
        add(new WaitingQueue(queue, null));
    }

    /** As {@link #progressWhileWaiting}, where this thread waits: another may not use the queue. */
    void progressWhileThisThreadWaits(CompletionQueue queue) {
        add(new WaitingQueue(queue, Thread.currentThread()));
    }

    private void add(WaitingQueue added) {
        replaceQueues(others -> Stream.concat(others.filter(other -> other.queue != added.queue), Stream.of(added)));
    }

    private synchronized void replaceQueues(UnaryOperator<Stream<WaitingQueue>> change) {
        queues = change.apply(Stream.of(queues)).toArray(WaitingQueue[]::new);
    }

    /** {@return whether this thread would make progress while it waits} */
    private boolean makesProgress() {
        for (WaitingQueue waiting : queues) {
            if (waiting.user == null || waiting.user == Thread.currentThread()) { return true; }
        }
        return false;
    }

    private void progress() { progress(null); }

    /**
     * Makes progress on all queues that were given but one, which is polled already, and forgets those that were
     * closed, or belong to another thread by now.
     */
    void progress(CompletionQueue polled) {
        for (WaitingQueue waiting : queues) {
            if (waiting.queue == polled || waiting.user != null && waiting.user != Thread.currentThread()) { continue; }
            try {
                waiting.queue.progress();
            } catch (IllegalStateException _) {
                forget(waiting);
            } catch (WrongThreadException e) {
                if (waiting.user == null) { throw e; }
                forget(waiting);
            }
        }
    }

    private void forget(WaitingQueue queue) { replaceQueues(all -> all.filter(other -> other != queue)); }

    /** Makes no progress on a queue any more. */
    void forget(CompletionQueue queue) {
        replaceQueues(all -> all.filter(other -> other.queue != queue));
    }

    /**
     * Publishes a value of this rank, which {@link #get} returns at every rank. A name gets one value, which cannot be
     * replaced: launchers keep what other ranks have read.
     *
     * @param name up to 200 bytes of UTF-8
     * @param value up to 65,536 bytes
     * @throws IllegalArgumentException if the name or the value is longer
     * @throws IllegalStateException if this rank has put the name already
     * @throws JobException if the job is broken, or the launcher or rank 0 takes no more values
     */
    public void put(String name, byte[] value) {
        requireOpen();
        requireLength("a name", Objects.requireNonNull(name, "name").getBytes(StandardCharsets.UTF_8), MAX_NAME_LENGTH);
        requireLength("a value", Objects.requireNonNull(value, "value"), Rendezvous.MAX_VALUE_LENGTH);
        if (!names.add(name)) {
            throw new IllegalStateException("rank " + rank() + " has put '" + name
                    + "' already, and other ranks may have read it: use another name, such as one with a number");
        }
        call(() -> {
            engine.put(VALUES + name, value, Deadline.in(deadline));
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
        return get(rank, VALUES, Objects.requireNonNull(name, "name"));
    }

    private byte[] get(int rank, String kind, String name) {
        Objects.checkIndex(rank, size());
        return call(() -> engine.get(rank, kind + name, startWait()));
    }

    /** Publishes a hello of {@link Ranks}, and returns its number. All ranks put as many, in the same order. */
    int putHello(byte[] hello) {
        requireOpen();
        requireLength("the address with the regions", hello, Rendezvous.MAX_VALUE_LENGTH);
        int number = nextHello.getAndIncrement();
        call(() -> {
            engine.put(HELLOS + number, hello, Deadline.in(deadline));
            return null;
        });
        return number;
    }

    /** {@return the number that this rank proposes for an exchange} The highest of those of all members counts. */
    int nextExchange() {
        return nextExchange.get();
    }

    /** Notes the number of an exchange that has ended. */
    void exchanged(int number) {
        nextExchange.accumulateAndGet(number + 1, Math::max);
    }

    /** {@return the hello of a rank with this number} It waits until there is one. */
    byte[] hello(int rank, int number) {
        requireOpen();
        return get(rank, HELLOS, Integer.toString(number));
    }

    /** Also checked in a job of one rank, so that a program that works with one rank works with several. */
    private static void requireLength(String what, byte[] bytes, int limit) {
        if (bytes.length > limit) {
            throw new IllegalArgumentException(
                    what + " of a rank has at most " + limit + " bytes; this one has " + bytes.length);
        }
    }

    /**
     * Waits until all ranks have called this method.
     *
     * @throws JobException if a rank has not called it in time, or the job is broken
     */
    public void barrier() {
        callInStep("barrier", wait -> {
            engine.barrier(wait);
            return null;
        });
    }

    /**
     * {@return the values of all ranks, in the order of ranks} It waits until all ranks have called it.
     *
     * @param value the value of this rank, up to 65,536 bytes
     * @throws IllegalArgumentException if it is longer
     * @throws JobException if a rank has not called it in time, or the job is broken
     */
    public List<byte[]> gather(byte[] value) { return gather("gather", value); }

    /** @param call the call that all ranks make, for messages */
    List<byte[]> gather(String call, byte[] value) {
        requireOpen();
        requireLength("a value", Objects.requireNonNull(value, "value"), Rendezvous.MAX_VALUE_LENGTH);
        return callInStep(call, wait -> engine.gather(value, wait));
    }

    /**
     * {@return the values of some ranks, of which this is one} It waits until all of them have called it, as often as
     * this rank.
     *
     * @param group what they call themselves
     */
    List<byte[]> gather(String group, int[] ranks, byte[] value) {
        requireOpen();
        requireLength("a value", value, Rendezvous.MAX_VALUE_LENGTH);
        Wait wait = startWait(); // which may throw: the members would not be in step any more
        String name = GROUPS + group + "/" + gatherings.merge(group, 1, Integer::sum);
        return call(() -> {
            engine.put(name, value, wait.deadline());
            return IntStream.of(ranks).mapToObj(rank -> engine.get(rank, name, wait)).toList();
        });
    }

    /** {@return the group of all ranks} */
    public JobGroup group() { return JobGroup.all(this); }

    /** {@return the group of the ranks on this host, in the order of ranks} Nothing is sent. */
    public JobGroup hostGroup() {
        return JobGroup.of(this, IntStream.range(0, size()).filter(this::isOnThisHost).boxed().toList());
    }

    /**
     * {@return the group of the ranks that have called this with the same color} All ranks call it. A rank that needs
     * no group takes a color that no other has.
     *
     * @param color any number
     * @param key the order in the group; where keys are equal, the lower rank comes first
     * @throws JobException if a rank has not called it in time, or the job is broken
     */
    public JobGroup split(int color, int key) {
        byte[] own = ByteBuffer.allocate(2 * Integer.BYTES).putInt(color).putInt(key).array();
        List<ByteBuffer> all = gather("split", own).stream().map(ByteBuffer::wrap).toList();
        return JobGroup.of(this, IntStream.range(0, size()).filter(rank -> all.get(rank).getInt(0) == color).boxed()
                .sorted(Comparator.comparing(rank -> all.get(rank).getInt(Integer.BYTES))).toList());
    }

    /**
     * Checks that no rank is known to be lost, and that no barrier and no gathering has failed. Call it now and then in
     * a loop that waits for other ranks. It only reads fields. Not every launcher reports that a rank has ended: then
     * only a call that waits for it finds out.
     *
     * @throws JobException if a rank is lost, with its number, or the job is broken
     */
    public void check() {
        requireOpen();
        LauncherException lost = engine.lost();
        if (lost != null) { throw broken(why(lost), lost); }
        requireInStep();
    }

    private void requireInStep() {
        Failure failure = failed;
        if (failure != null) { throw broken(why(failure), failure.cause); }
    }

    /** Starts the deadline of a call. A queue's refusal, such as a wrong thread, is thrown before the call begins. */
    private Wait startWait() {
        progress();
        return new Wait(Deadline.in(deadline), makesProgress() ? this::progress : null);
    }

    private <T> T call(Supplier<T> work) {
        try {
            return work.get();
        } catch (LauncherException e) {
            throw broken(why(e), e);
        }
    }

    /**
     * Runs a call that all ranks make, and that not all of them know to have failed if it fails here. The next such
     * call would meet another one of the others.
     */
    private <T> T callInStep(String name, Function<Wait, T> work) {
        requireOpen();
        requireInStep();
        Wait wait = startWait();
        try {
            return work.apply(wait);
        } catch (LauncherException e) {
            Failure failure = new Failure(name, e);
            failed = failure;
            throw broken(why(failure), e);
        } catch (RuntimeException | Error e) { // of a queue on which it made progress
            failed = new Failure(name, new LauncherException("it was broken off: " + e.getMessage(), e));
            throw e;
        }
    }

    private JobException broken(String why, RuntimeException cause) {
        return new JobException("rank " + rank() + " of " + size() + " cannot go on: " + why, cause);
    }

    private void requireOpen() { if (closed.get()) { throw new IllegalStateException(this + " is closed"); } }

    /**
     * Ends the job because of a failure. A launcher is told to end the other ranks; where rank 0 serves them, their
     * waiting calls throw a {@link JobException} with the reason. This process ends with the code, as by
     * {@link System#exit}, after at most three seconds. The method never returns. After {@link #close}, nobody is told:
     * this process ends, and a launcher sees its code.
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
        Thread.interrupted(); // of the wait that has failed, perhaps: it would leave no time to tell the others
        if (!closed.get()) {
            Thread tells = Thread.ofPlatform().daemon().start(() -> engine.abort(code, why));
            joinQuietly(tells);
        }
        Thread.ofPlatform().daemon().start(() -> System.exit(code)); // shutdown hooks remove the files of endpoints
        pause(GRACE_MILLIS / 2);
        Runtime.getRuntime().halt(code);
    }

    /** Gives the others the time to be told, before shutdown hooks close what they are told with. */
    private static void joinQuietly(Thread thread) {
        try {
            thread.join(Duration.ofMillis(GRACE_MILLIS / 2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Leaves the job. Ranks that wait for this rank, now or later, get a {@link JobException}. Where rank 0 serves the
     * other ranks, rank 0 waits here until all have left or were lost, at most until the deadline; and a rank whose
     * barrier or gathering has failed tells the others why. An interrupt does not end the wait; the interrupt status
     * stays set.
     *
     * @throws JobException if the launcher does not answer before the deadline; the job is closed nevertheless
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) { return; }
        try {
            Failure failure = failed;
            String why = failure == null ? null : why(failure);
            HelperThread.uninterrupted(() -> engine.leave(Deadline.in(deadline), why));
        } catch (LauncherException e) {
            throw broken(why(e), e);
        }
    }

    @Override
    public String toString() { return "Job, rank " + rank() + " of " + size() + ", started by " + launcher(); }
}
