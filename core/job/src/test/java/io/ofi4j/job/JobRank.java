package io.ofi4j.job;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.ProgressThread;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One rank of {@link JobTest}'s jobs: what it does is its first argument. It prints lines that begin with what is true.
 */
final class JobRank {
    private static final Duration SOON = Patience.seconds(40);
    /** Longer than it takes to learn of a death, shorter than anybody's patience. */
    private static final Duration BRIEF = Patience.seconds(20);

    private JobRank() {}

    public static void main(String[] arguments) {
        switch (arguments[0]) {
            case "meet" -> meet(arguments[1]);
            case "carry" -> carry();
            case "groups" -> groups(arguments[1]);
            case "notify" -> tellOfALoss();
            case "lazily" -> lazily(arguments[1]);
            case "die" -> die(Path.of(arguments[1]), Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
            case "loseFirst" -> loseFirst(Path.of(arguments[1]));
            case "straight" -> straight(arguments[1]);
            case "lose" -> lose(arguments[1]);
            case "abort" -> abort(Path.of(arguments[1]));
            case "late" -> late(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
            case "stop" -> stop(Integer.parseInt(arguments[1]));
            case "leave" -> leave();
            case "host" -> host();
            case "slow" -> slow(Path.of(arguments[1]));
            case "twice" -> twice();
            case "nested" -> expectNoJob();
            case "differ" -> differ();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void print(Job job, String text) {
        System.out.println("[" + job.rank() + "/" + job.size() + "] " + text); // one write: lines do not mix
    }

    /** Values, addresses and bytes go around. */
    private static void meet(String provider) {
        try (Job job = Job.join(SOON)) {
            job.put("name", ("I am " + job.rank()).getBytes(UTF_8));
            StringBuilder heard = new StringBuilder();
            for (int rank = 0; rank < job.size(); rank++) {
                heard.append(new String(job.get(rank, "name"), UTF_8)).append(' ');
            }
            print(job, "heard: " + heard.toString().strip());
            print(job, "local " + job.localRank() + " of " + job.hosts().size() + " by " + job.launcher());
            write(job, provider);
        }
    }

    /** The even ranks and the odd ones count in memory of their own. */
    private static void groups(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = SymmetricMemory.hints().provider(provider).source("127.0.0.1", null);
        try (Job job = Job.join(SOON);
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain()) {
            JobGroup group = job.split(job.rank() % 2, -job.rank()); // the highest comes first
            try (JobCollectives members = new JobCollectives(group, domain);
                    SymmetricMemory memory = SymmetricMemory.allocate(group, domain, 8);
                    SymmetricMemory all = SymmetricMemory.allocate(job.group(), domain, 8)) {
                memory.fetchAdd(0, 0, 1L << job.rank());
                all.fetchAdd(0, 0, 100);
                members.barrier();
                job.barrier();
                print(job, "group " + group.jobRanks() + ": " + memory.segment().get(ValueLayout.JAVA_LONG, 0)
                        + ", all: " + all.segment().get(ValueLayout.JAVA_LONG, 0));
                job.barrier();
            }
        }
    }

    /** Values of all lengths arrive, also those that were put late; and no rank serves the others. */
    private static void carry() {
        long inherited = ListeningSockets.count(); // some launchers leave theirs open in the ranks
        try (Job job = Job.join(SOON)) {
            job.put("long", random(job.rank(), Rendezvous.MAX_VALUE_LENGTH));
            requireAll(job, rank -> job.get(rank, "long"), Rendezvous.MAX_VALUE_LENGTH);
            for (int length : new int[]{0, 1, 1000, Rendezvous.MAX_VALUE_LENGTH, 5}) {
                List<byte[]> all = job.gather(random(job.rank(), length));
                requireAll(job, all::get, length);
                job.barrier();
            }
            if (job.rank() == 0) {
                job.put("late", random(0, 100));
            } else if (!Arrays.equals(job.get(0, "late"), random(0, 100))) {
                throw new AssertionError("another value came");
            }
            print(job,
                    "carried by " + job.launcher() + "; listens: " + (ListeningSockets.count() - inherited)
                            + "; threads: " + Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                                    .filter(name -> name.startsWith("ofi4j-")).sorted().toList());
            job.barrier();
        }
    }

    private static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void requireAll(Job job, IntFunction<byte[]> value, int length) {
        for (int rank = 0; rank < job.size(); rank++) {
            if (!Arrays.equals(value.apply(rank), random(rank, length))) {
                throw new AssertionError("the value of rank " + rank + " with " + length + " bytes is another one");
            }
        }
    }

    /** The sockets of this process that listen. */
    private static final class ListeningSockets {
        private static final int STATE = 3;
        private static final int INODE = 9;
        private static final String LISTENING = "0A";

        static long count() {
            try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
                Set<String> own = descriptors.flatMap(ListeningSockets::target).collect(Collectors.toSet());
                return Stream.of("tcp", "tcp6").flatMap(ListeningSockets::rows)
                        .filter(row -> row[STATE].equals(LISTENING) && own.contains("socket:[" + row[INODE] + "]"))
                        .count();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Stream<String> target(Path descriptor) {
            try {
                return Stream.of(Files.readSymbolicLink(descriptor).toString());
            } catch (IOException e) {
                return Stream.empty(); // closed since
            }
        }

        private static Stream<String[]> rows(String protocol) {
            try {
                return Files.readAllLines(Path.of("/proc/self/net", protocol)).stream().skip(1)
                        .map(line -> line.strip().split(" +"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** What a rank needs to write into the memory of others. */
    private static final class Writer implements AutoCloseable {
        private final Fabric fabric;
        private final Domain domain;
        private final CompletionQueue queue;
        private final AddressVector peers;
        private final MemoryRegion source;
        private final MemoryRegion inbox;
        private final Endpoint endpoint;

        Writer(String provider) {
            var hints = TestProviders.hints(provider).operationFlags(OperationFlag.DELIVERY_COMPLETE);
            fabric = Libfabric.load().openFabric(Libfabric.load().info(hints).getFirst());
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            peers = domain.openAddressVector();
            source = domain.allocate(64, Access.WRITE);
            inbox = domain.allocate(64, Access.REMOTE_WRITE);
            endpoint = domain.openEndpoint().bind(queue).bind(peers).postTimeout(SOON).enable();
        }

        Ranks exchange(Job job) { return Ranks.exchange(job, endpoint, peers, inbox.remote()); }

        /** Writes 1000 and the rank of this process. */
        void write(Ranks ranks, int to, long offset) {
            source.segment().set(ValueLayout.JAVA_LONG, 0, 1000 + ranks.rank());
            endpoint.rma().write(source.slice(0, Long.BYTES), ranks.peer(to),
                    ranks.region(to, 0).slice(offset, Long.BYTES), 1);
        }

        void writeToNext(Ranks ranks) { write(ranks, (ranks.rank() + 1) % ranks.size(), 0); }

        void awaitWritten() {
            Waiting.BACKOFF.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, BRIEF);
        }

        /** {@return what others have written} */
        long[] inbox() {
            return inbox.segment().toArray(ValueLayout.JAVA_LONG);
        }

        @Override
        public void close() {
            for (AutoCloseable each : List.of(endpoint, inbox, source, peers, queue, domain, fabric)) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** Each rank writes its number into the memory of the next. */
    private static void write(Job job, String provider) {
        try (Writer writer = new Writer(provider); ProgressThread _ = writer.domain.startProgress(Waiting.BACKOFF)) {
            writer.writeToNext(writer.exchange(job));
            writer.awaitWritten();
            job.barrier();
            print(job, "written: " + writer.inbox()[0]);
            job.barrier();
        }
    }

    /**
     * The last rank ends without a word, and the others wait for it for so long. All have started before anybody's time
     * limit begins.
     */
    private static void die(Path folder, int ranks, int seconds) {
        leaveWord(folder, "started " + ProcessHandle.current().pid());
        awaitWords(folder, "started ", ranks);
        Duration limit = Patience.seconds(seconds);
        Job job = Job.join(limit);
        job.barrier();
        if (job.rank() == job.size() - 1) { Runtime.getRuntime().halt(9); }
        expectFailure(job, job::barrier);
        expectNews(job, limit);
        System.out.flush();
        awaitOthers(job, folder, job.size() - 1);
        Runtime.getRuntime().halt(0); // a launcher that ends all would hide what the others have said
    }

    /** The last rank has PMIx tell that it was lost, as a server does, and waits until the others know. */
    private static void tellOfALoss() {
        try (Job job = Job.join(SOON)) {
            int last = job.size() - 1;
            job.barrier();
            if (job.rank() == last) {
                PmixEvents.sendOwnLoss();
                IntStream.range(0, last).forEach(rank -> job.get(rank, "told"));
            } else {
                expectNews(job);
                expectFailure(job, job::barrier);
                job.put("told", new byte[0]);
            }
        }
    }

    /** Calls of PMIx that only this test makes. */
    @SuppressWarnings("restricted")
    private static final class PmixEvents {
        private static final int ENDED_BY_SIGNAL = -402;
        private static final byte THIS_NODE = 2;
        private static final short TYPE_PROC = 22;
        private static final long PROC_LENGTH = 260;
        private static final long INFO_LENGTH = 552;
        private static final long INFO_VALUE = 520;

        static void sendOwnLoss() {
            Arena arena = Arena.global();
            SymbolLookup pmix = SymbolLookup.libraryLookup("libpmix.so.2", arena);
            MemorySegment self = arena.allocate(PROC_LENGTH, Integer.BYTES);
            MemorySegment info = arena.allocate(INFO_LENGTH, Long.BYTES);
            info.setString(0, "pmix.evproc");
            info.set(ValueLayout.JAVA_SHORT, INFO_VALUE, TYPE_PROC);
            info.set(ValueLayout.ADDRESS, INFO_VALUE + Long.BYTES, self);
            try {
                call(pmix, "PMIx_Init", self, MemorySegment.NULL, 0L); // counted: the process is known already
                call(pmix, "PMIx_Finalize", MemorySegment.NULL, 0L);
                call(pmix, "PMIx_Notify_event", ENDED_BY_SIGNAL, self, THIS_NODE, info, 1L, MemorySegment.NULL,
                        MemorySegment.NULL);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }

        private static void call(SymbolLookup pmix, String name, Object... arguments) throws Throwable {
            MemoryLayout[] layouts = Stream.of(arguments).map(argument -> switch (argument) {
                case Integer _ -> ValueLayout.JAVA_INT;
                case Long _ -> ValueLayout.JAVA_LONG;
                case Byte _ -> ValueLayout.JAVA_BYTE;
                default -> ValueLayout.ADDRESS;
            }).toArray(MemoryLayout[]::new);
            Object status = Linker.nativeLinker()
                    .downcallHandle(pmix.find(name).orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts))
                    .invokeWithArguments(arguments);
            if ((int) status != 0) { throw new AssertionError(name + ": " + status); }
        }
    }

    /** Rank 0, which serves the others, ends without a word. */
    private static void loseFirst(Path folder) {
        Job job = Job.join(SOON);
        leaveWord(folder, "joined " + job.rank());
        if (job.rank() == 0) {
            awaitWords(folder, "joined ", job.size());
            Runtime.getRuntime().halt(0); // no failure for the launcher
        }
        expectFailure(job, job::barrier);
        expectNews(job);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /**
     * Each rank writes into the memory of the next. Odd ranks wait for their completion, the others for the barrier
     * alone, where they make the progress that the odd ones need.
     */
    private static void straight(String provider) {
        try (Job job = Job.join(SOON); Writer writer = new Writer(provider)) {
            job.progressWhileWaiting(writer.queue);
            writer.writeToNext(writer.exchange(job));
            if (job.rank() % 2 == 1) { writer.awaitWritten(); }
            job.barrier();
            if (job.rank() % 2 == 0) { writer.awaitWritten(); }
            job.barrier(); // with DELIVERY_COMPLETE, all bytes are there
            print(job, "written: " + writer.inbox()[0]);
            job.barrier();
        }
    }

    /** Ranks 0 and 1 write into each other's memory before the last rank has said where it is. */
    private static void lazily(String provider) {
        try (Job job = Job.join(SOON); Writer writer = new Writer(provider)) {
            job.progressWhileWaiting(writer.queue);
            int last = job.size() - 1;
            if (job.rank() == last) { IntStream.range(0, last).forEach(rank -> job.get(rank, "written")); }
            Ranks ranks = Ranks.lazy(job, writer.endpoint, writer.peers, writer.inbox.remote());
            int to = job.rank() == last ? 0 : 1 - job.rank();
            writer.write(ranks, to, (long) job.rank() * Long.BYTES);
            writer.awaitWritten();
            job.put("written", new byte[0]);
            job.barrier(); // with DELIVERY_COMPLETE, all bytes are there
            print(job, "has " + Arrays.toString(writer.inbox()));
            if (ranks.peer(to) != ranks.peer(to)) { throw new AssertionError("a rank was inserted twice"); }
            job.barrier();
        }
    }

    /**
     * The last rank ends, and when the others know it, they send to it nevertheless. The deadline is never: if they
     * wait for it, the test ends them.
     */
    private static void lose(String provider) {
        Job job = Job.join(Duration.ofDays(1));
        Fabric fabric = Libfabric.load().openFabric(TestProviders.info(FabricHints.tagged().provider(provider)));
        Domain domain = fabric.openDomain();
        MemoryRegion memory = domain.allocate(4096, Access.SEND, Access.RECEIVE);
        JobCollectives all = new JobCollectives(job, domain);
        all.allReduce(memory.slice(0, Long.BYTES), AtomicOperation.SUM, Datatype.INT64);
        if (job.rank() == job.size() - 1) { Runtime.getRuntime().halt(0); } // no failure for the launcher
        expectNews(job);
        expectFailure(job, all::barrier);
        expectFailure(job, () -> all.allReduce(memory.slice(0, 4096), AtomicOperation.SUM, Datatype.INT64));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expectFailure(Job job, Runnable call) {
        try {
            call.run();
        } catch (JobException e) {
            print(job, "told: " + e.getMessage());
            return;
        }
        throw new AssertionError("nothing was thrown");
    }

    private static void expectNews(Job job) { expectNews(job, BRIEF); }

    /** Waits until it is known that a rank has gone. */
    private static void expectNews(Job job, Duration limit) {
        expectFailure(job, () -> Waiting.BACKOFF.until(() -> {
            job.check();
            return false;
        }, limit));
    }

    private static void abort(Path folder) {
        Job job = Job.join(SOON);
        if (job.rank() == 1) { job.abort(7, "the input is bad"); }
        expectFailure(job, job::barrier);
        System.out.flush();
        awaitOthers(job, folder, 1);
    }

    /**
     * The others learn from rank 0 whom they have lost: it stays until each has left a file, unless a launcher has
     * ended them.
     */
    private static void awaitOthers(Job job, Path folder, int lost) {
        leaveWord(folder, Integer.toString(job.rank()));
        if (job.rank() == 0) {
            Waiting.BACKOFF.tryUntil(() -> IntStream.range(0, job.size()).filter(rank -> rank != lost)
                    .allMatch(rank -> Files.exists(folder.resolve(Integer.toString(rank)))), BRIEF);
        }
    }

    /** Rank 1 never comes to the barrier, and lives on. All have started before anybody's time limit begins. */
    private static void late(Path folder, int ranks) {
        leaveWord(folder, "started " + ProcessHandle.current().pid());
        awaitWords(folder, "started ", ranks);
        try (Job job = Job.join(Patience.seconds(3))) {
            if (job.rank() != 1) {
                expectFailure(job, job::barrier);
                leaveWord(folder, "told " + job.rank());
            }
            awaitWords(folder, "told ", ranks - 1); // whom is lost would be named otherwise
        }
    }

    private static void leaveWord(Path folder, String word) {
        try {
            Files.createFile(folder.resolve(word));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for so many files whose names begin so. */
    private static void awaitWords(Path folder, String beginning, int count) {
        Waiting.BACKOFF.until(() -> {
            try (Stream<Path> files = Files.list(folder)) {
                return files.filter(file -> file.getFileName().toString().startsWith(beginning)).count() == count;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }, SOON);
    }

    /** A rank is stopped for longer than any wait has that is not the job's, and goes on. */
    private static void stop(int which) {
        try (Job job = Job.join(Patience.seconds(60))) {
            if (job.rank() == which) { stopForAWhile(); }
            job.barrier();
            job.check();
            job.barrier();
            print(job, "went on");
        }
    }

    private static void stopForAWhile() {
        String self = Long.toString(ProcessHandle.current().pid());
        long[] last = {System.nanoTime()};
        try {
            new ProcessBuilder("sh", "-c", "kill -STOP $0; sleep 30; kill -CONT $0", self).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Waiting.BACKOFF.until(() -> { // a gap in time is the stop
            long before = last[0];
            last[0] = System.nanoTime();
            return last[0] - before > Duration.ofSeconds(25).toNanos();
        }, Patience.seconds(60));
    }

    /** Rank 1 comes when the others have given up, and are about to leave. */
    private static void slow(Path folder) {
        Job job = Job.join(Patience.seconds(3));
        if (job.rank() == 1) {
            awaitWords(folder, "gave up ", job.size() - 1);
            expectFailure(job, () -> {
                while (true) { // a launcher may count those who no longer wait
                    job.barrier();
                }
            });
            System.out.flush();
            Runtime.getRuntime().halt(0); // a launcher that has lost the others may not answer to an orderly end
        }
        expectFailure(job, job::barrier);
        leaveWord(folder, "gave up " + job.rank());
        job.close(); // rank 0 waits for rank 1 here, where it serves
    }

    private static void twice() {
        try (Job job = Job.join(SOON)) {
            job.barrier();
            expectNoJob();
        }
        expectNoJob();
    }

    private static void expectNoJob() {
        try (Job job = Job.join(SOON)) {
            throw new AssertionError(job);
        } catch (JobException e) {
            System.out.println("told: " + e.getMessage()); // one write: lines do not mix
        }
    }

    private static void leave() {
        try (Job job = Job.join(SOON)) {
            if (job.rank() == 1) { return; }
            expectFailure(job, job::barrier);
        }
    }

    private static void host() {
        try (Job job = Job.join(SOON)) {
            print(job, "is the local rank " + job.localRank() + " of " + job.hostGroup().size());
        }
    }

    private static void differ() {
        try (Job job = Job.join(SOON);
                Fabric fabric = Libfabric.load()
                        .openFabric(TestProviders.info(job.rank() == 1 ? "sockets" : "tcp;ofi_rxm"));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            expectFailure(job, () -> Ranks.exchange(job, endpoint, peers));
        }
    }
}
