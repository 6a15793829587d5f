package io.ofi4j.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.JobException;
import io.ofi4j.job.Ranks;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A job whose ranks are in two network namespaces, as on two hosts, started by {@code scripts/launch}. Needs root and
 * {@code ip}. {@code scripts/test} asks for it where the machine can, with {@code -Dofi4j.test.network=true}.
 */
@Tag("gate")
class NetworkJobTest {
    private static final int RANKS = 4;
    private static final int KILLED = 137;
    private static final int TOLD = 4;
    private static final Duration DEADLINE = Patience.seconds(40);

    @TempDir
    Path folder;

    @BeforeEach
    void requireNetworks() {
        assumeTrue(Boolean.getBoolean("ofi4j.test.network"),
                "it takes root and iproute2: -Dofi4j.test.network=true asks for it");
        String obstacle = TwoNetworks.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
    }

    /**
     * In the place of ssh: the name of a host is an address, and each has a name of its own in a namespace of names.
     */
    private Path agent(TwoNetworks networks) {
        try {
            Path agent = Files.writeString(folder.resolve("agent"),
                    """
                            #!/bin/sh
                            case $1 in %s) network='%s' name=near ;; *) network='%s' name=far ;; esac
                            exec env FI_TCP_IFACE=cable $network unshare --uts sh -c 'echo "$0" >/proc/sys/kernel/hostname; exec bash -c "$1"' \
                            $name "$2"
                            """
                            .formatted(TwoNetworks.NEAR, String.join(" ", networks.inNear()),
                                    String.join(" ", networks.inFar())));
            return Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What each rank runs is a shell, too, which says how the rank ended. */
    private Forked.Running start(TwoNetworks networks, List<String> options, String what) {
        List<String> prefix = new ArrayList<>(List.of("env", "OFI4J_LAUNCH_AGENT=" + agent(networks),
                "../../scripts/launch", Integer.toString(RANKS)));
        prefix.addAll(options);
        prefix.addAll(List.of("--hosts", TwoNetworks.NEAR + "," + TwoNetworks.FAR, "--", "sh", "-c",
                "\"$@\"; code=$?; echo \"ended with $code\"; exit $code", "sh"));
        return Forked.startBehind(prefix, Rank.class, what);
    }

    /** Of bridges, libfabric may name the newest first. All hosts have its address: the variable names the cable. */
    @ParameterizedTest
    @ValueSource(ints = {0, 4})
    void ranksOfTwoHostsMeetWriteAndReduce(int bridges) {
        try (TwoNetworks networks = new TwoNetworks(bridges)) {
            Forked.Result result = start(networks, List.of(), "meet").await();

            assertThat(result.exit()).as(result.output()).isZero();
            for (int rank = 0; rank < RANKS; rank++) {
                String own = rank < RANKS / 2 ? TwoNetworks.NEAR : TwoNetworks.FAR;
                assertThat(result.output()).contains("[" + rank + "] heard: I am 0 I am 1 I am 2 I am 3\n")
                        .contains("[" + rank + "] local " + rank % 2 + " of [near, near, far, far]\n")
                        .containsPattern("\\[" + rank + "] address .*" + own.replace(".", "\\."))
                        .contains("[" + rank + "] written: " + (1000 + (rank + RANKS - 1) % RANKS) + "\n")
                        .contains("[" + rank + "] every sum is exact\n");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRankThatIsKilledFarAwayEndsTheOthersWithItsName(boolean keepsGoing) {
        int victim = RANKS - 1;
        try (TwoNetworks networks = new TwoNetworks()) {
            Forked.Running running = start(networks, keepsGoing ? List.of("--keep-going") : List.of(), "turn");
            List<Long> processes = IntStream.range(0, RANKS)
                    .mapToObj(rank -> Long.valueOf(running.awaitLine("[" + rank + "] turns in process "))).toList();
            assertThat(ProcessHandle.of(processes.get(victim)).orElseThrow().destroyForcibly()).isTrue();
            Forked.Result result = running.await();

            assertThat(result.exit()).as(result.output()).isEqualTo(KILLED);
            assertThat(processes).as(result.output())
                    .noneMatch(process -> ProcessHandle.of(process).filter(ProcessHandle::isAlive).isPresent());
            if (keepsGoing) { // otherwise the script may end them before they have said so
                IntStream.range(0, victim)
                        .forEach(rank -> assertThat(result.output())
                                .containsPattern(
                                        "\\[" + rank + "] told: rank " + rank + " of 4 cannot go on: rank 3 \\(process "
                                                + processes.get(victim) + " on far\\) has ended without leaving")
                                .contains("[" + rank + "] ended with " + TOLD));
            }
        }
    }

    /** One rank. */
    static final class Rank {
        private static final int MAX_LENGTH = 1 << 20;

        private Rank() {}

        public static void main(String[] arguments) {
            Libfabric libfabric = Libfabric.load();
            var hints = FabricHints.rma().provider("tcp;ofi_rxm").capabilities(Capability.RMA, Capability.TAGGED)
                    .operationFlags(OperationFlag.DELIVERY_COMPLETE);
            try (Job job = Job.join(DEADLINE);
                    Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                    Domain domain = fabric.openDomain();
                    MemoryRegion memory = domain.allocate(MAX_LENGTH, Access.SEND, Access.RECEIVE);
                    JobCollectives all = new JobCollectives(job, domain)) {
                if (arguments[0].equals("turn")) { turn(job, all, memory); }
                tell(job);
                write(job, domain);
                reduce(job, all, memory);
                job.barrier();
            }
        }

        private static void tell(Job job) {
            job.put("name", ("I am " + job.rank()).getBytes(UTF_8));
            List<String> heard = IntStream.range(0, job.size())
                    .mapToObj(rank -> new String(job.get(rank, "name"), UTF_8)).toList();
            System.out.println("heard: " + String.join(" ", heard));
            System.out.println("local " + job.localRank() + " of " + job.hosts());
        }

        /** Each rank writes its number into the memory of the next, which is on the other host for two of them. */
        private static void write(Job job, Domain domain) {
            try (CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector peers = domain.openAddressVector();
                    MemoryRegion source = domain.allocate(Long.BYTES, Access.WRITE);
                    MemoryRegion inbox = domain.allocate(Long.BYTES, Access.REMOTE_WRITE);
                    Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                    ProgressThread _ = domain.startProgress(Waiting.BACKOFF)) {
                System.out.println("address " + endpoint.address());
                Ranks ranks = Ranks.exchange(job, endpoint, peers, inbox.remote());
                int next = (job.rank() + 1) % job.size();
                source.segment().set(ValueLayout.JAVA_LONG, 0, 1000 + job.rank());
                endpoint.rma().write(source.slice(0, Long.BYTES), ranks.peer(next), ranks.region(next, 0), 1);
                Waiting.BACKOFF.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, DEADLINE);
                job.barrier();
                System.out.println("written: " + inbox.segment().get(ValueLayout.JAVA_LONG, 0));
                job.barrier();
            }
        }

        /** By both algorithms of all-reduce, and in many rounds of the short one. */
        private static void reduce(Job job, JobCollectives all, MemoryRegion memory) {
            for (int round = 0; round < 100; round++) {
                all.barrier();
                reduce(job, all, memory, 1 + round % 3, round);
            }
            for (int elements : new int[]{512, 2048, 2049, 8192, MAX_LENGTH / Long.BYTES}) {
                reduce(job, all, memory, elements, elements);
            }
            System.out.println("every sum is exact");
        }

        private static void reduce(Job job, JobCollectives all, MemoryRegion memory, int elements, int round) {
            MemorySegment numbers = memory.segment();
            for (int i = 0; i < elements; i++) {
                numbers.setAtIndex(ValueLayout.JAVA_LONG, i, number(job.rank(), i, round));
            }
            all.allReduce(memory.slice(0, (long) elements * Long.BYTES), AtomicOperation.SUM, Datatype.INT64);
            for (int i = 0; i < elements; i++) {
                int at = i;
                long expected = IntStream.range(0, job.size()).mapToLong(rank -> number(rank, at, round)).sum();
                long found = numbers.getAtIndex(ValueLayout.JAVA_LONG, i);
                if (found != expected) {
                    throw new AssertionError("element " + i + " of " + elements + ": " + found + ", not " + expected);
                }
            }
        }

        private static long number(int rank, int index, int round) {
            return (rank + 1) * 0x9E3779B97F4A7C15L + index * 31L + round;
        }

        /** Until a rank has gone. */
        private static void turn(Job job, JobCollectives all, MemoryRegion memory) {
            try {
                reduce(job, all, memory, 1, 0);
                System.out.println("turns in process " + ProcessHandle.current().pid());
                while (true) {
                    reduce(job, all, memory, 1024, 0);
                    all.barrier();
                }
            } catch (JobException e) {
                System.out.println("told: " + e.getMessage());
                System.exit(TOLD);
            }
        }
    }
}
