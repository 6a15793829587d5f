package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Collective operations of ranks that are threads of this process, each with a domain of its own, compared with what
 * one process computes. {@link JobTest} has processes.
 */
@Tag("gate")
class JobCollectivesTest {
    private static final long LONG = Long.BYTES;
    /**
     * Elements: none, one, fewer than ranks, a block each and some more, a few of the segments that ofi_rxm sends at
     * once, and enough for the ring and long messages.
     */
    private static final List<Integer> COUNTS = List.of(0, 1, 3, 100, 6001, 9001);
    /** 16 bytes: a number, and who has it. No atomic operation is like it. */
    private static final Reduction LARGEST = Reduction.of(16, (into, from) -> {
        for (long at = 0; at < into.byteSize(); at += 16) {
            if (number(from, at) > number(into, at)) { MemorySegment.copy(from, at, into, at, 16); }
        }
    });

    static Stream<Arguments> jobs() {
        return TestProviders.rma().flatMap(provider -> Stream.of(1, 2, 3, 5).map(size -> Arguments.of(provider, size)));
    }

    /** What a rank does. */
    private interface Work {
        void run(Job job, JobCollectives all, Memory memory);
    }

    /** Slices for a rank. */
    private record Memory(Domain domain, List<MemoryRegion> regions) {
        Slice of(long bytes) {
            MemoryRegion region = domain.allocate(Math.max(1, bytes), Access.SEND, Access.RECEIVE);
            regions.add(region);
            return region.slice(0, bytes);
        }

        Slice numbers(int count, IntFunction<Long> value) {
            Slice slice = of(count * LONG);
            IntStream.range(0, count)
                    .forEach(i -> slice.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, i * LONG, value.apply(i)));
            return slice;
        }

        void free() {
            regions.forEach(MemoryRegion::close);
            regions.clear();
        }
    }

    private static void inAJob(String provider, int size, Work work) {
        JobOfThreads.run(TestProviders.hints(provider).capabilities(Capability.TAGGED), size, (job, domain) -> {
            try (JobCollectives all = new JobCollectives(job, domain, Waiting.BACKOFF)) {
                Memory memory = new Memory(domain, new ArrayList<>());
                work.run(job, all, memory);
                all.barrier(); // an endpoint that closes may take with it what others still wait for
                job.barrier();
                memory.free();
            }
        });
    }

    private static long number(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    private static List<Long> numbers(Slice slice) {
        return IntStream.range(0, (int) (slice.length() / LONG)).mapToObj(i -> number(slice.segment(), i * LONG))
                .toList();
    }

    /** Element i of a rank's data. */
    private static long datum(int rank, int i) {
        return (rank + 1) * 1_000_003L ^ i * 7919L * (rank + 2);
    }

    private static List<Long> expected(int count, IntFunction<Long> value) {
        return IntStream.range(0, count).mapToObj(value).toList();
    }

    private static long sum(int size, int i) {
        return IntStream.range(0, size).mapToLong(rank -> datum(rank, i)).sum();
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("jobs")
    void everyOperationGivesWhatOneProcessComputes(String provider, int size) {
        inAJob(provider, size, (job, all, memory) -> {
            for (int count : COUNTS) {
                for (int root : new int[]{0, size - 1}) {
                    rooted(job, all, memory, count, root);
                }
                reduces(job, all, memory, count);
                blocks(job, all, memory, count);
                memory.free();
            }
        });
    }

    /** Several times as many segments as are under way at once, with a last one that is shorter. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    @Tag("once")
    void longBlocksArriveWholeInSegments(String provider) {
        int count = 3 * (GroupMessages.SLOTS + 1) * (int) (GroupMessages.SEGMENT_LENGTH / LONG) + 5;
        inAJob(provider, 3, (job, all, memory) -> {
            int me = job.rank();
            Slice data = memory.numbers(count, i -> datum(me, i));
            all.broadcast(data, 1);
            requireAll(data, i -> datum(1, i));

            fill(data, i -> datum(me, i));
            all.reduce(data, AtomicOperation.SUM, Datatype.INT64, 2);
            if (me == 2) { requireAll(data, i -> sum(3, i)); }

            fill(data, i -> datum(me, i));
            all.allReduce(data, AtomicOperation.SUM, Datatype.INT64);
            requireAll(data, i -> sum(3, i));

            int block = count / 3;
            fill(data, i -> datum(me, i));
            Slice mine = memory.of(block * LONG);
            all.reduceScatter(data.region().slice(0, 3 * block * LONG), mine, AtomicOperation.SUM, Datatype.INT64);
            requireAll(mine, i -> sum(3, me * block + i));

            all.allGather(mine, data.region().slice(0, 3 * block * LONG));
            requireAll(data.region().slice(0, 3 * block * LONG), i -> sum(3, i));
        });
    }

    @Test
    @Tag("once")
    void elementsLongerThanASegmentAreNotCut() {
        int length = 5 << 17;
        Reduction sum = Reduction.of(length, (into, from) -> {
            assertThat(into.byteSize()).isEqualTo(from.byteSize()).isEqualTo(length);
            Reduction.of(AtomicOperation.SUM, Datatype.INT64).combination().combine(into, from);
        });
        assertThat((long) length).isGreaterThan(GroupMessages.SEGMENT_LENGTH);
        int count = 7 * length / (int) LONG;
        inAJob("tcp;ofi_rxm", 3, (job, all, memory) -> {
            int me = job.rank();
            Slice data = memory.numbers(count, i -> datum(me, i));
            all.reduce(data, sum, 1);
            if (me == 1) { requireAll(data, i -> sum(3, i)); }

            fill(data, i -> datum(me, i));
            all.allReduce(data, sum);
            requireAll(data, i -> sum(3, i));
        });
    }

    @Test
    void ranksSpinOnlyWhereEachHasAProcessor() {
        assertThat(GroupWait.waiting(2, 2)).isSameAs(Waiting.YIELD);
        assertThat(GroupWait.waiting(3, 2)).isNotSameAs(Waiting.YIELD).isNotSameAs(Waiting.SPIN);
    }

    @Test
    @Tag("once")
    void afterAnOperationThatDidNotEndNoneBegins() {
        Reduction failing = Reduction.of(8, (_, _) -> {
            throw new ArithmeticException("of this test");
        });
        inAJob("tcp;ofi_rxm", 3, (job, all, memory) -> {
            Slice data = memory.of(8);
            try (JobCollectives other = new JobCollectives(job, memory.domain(), Waiting.BACKOFF)) {
                if (job.rank() == 0) { // with the message of one of the two others, and a receive for the second
                    assertThatThrownBy(() -> other.reduce(data, failing, 0)).isInstanceOf(ArithmeticException.class);

                    assertThatThrownBy(other::barrier).isInstanceOf(JobException.class)
                            .hasMessageContaining("reduce did not end");
                } else {
                    other.reduce(data, failing, 0);
                }
                job.barrier();
            }
        });
    }

    /** Nothing is on its way when it throws. */
    @Test
    @Tag("once")
    void afterACombinationThatHasThrownNoneBegins() {
        Reduction failing = Reduction.of(8, (_, _) -> {
            throw new ArithmeticException("of this test");
        });
        inAJob("tcp;ofi_rxm", 2, (job, all, memory) -> {
            try (JobCollectives other = new JobCollectives(job, memory.domain(), Waiting.BACKOFF)) {
                assertThatThrownBy(() -> other.allReduce(memory.of(8), failing))
                        .isInstanceOf(ArithmeticException.class);

                assertThatThrownBy(other::barrier).isInstanceOf(JobException.class)
                        .hasMessageContaining("all-reduce did not end");
                job.barrier();
            }
            try (JobCollectives other = new JobCollectives(job, memory.domain(), Waiting.BACKOFF)) {
                if (job.rank() == 0) {
                    assertThatThrownBy(() -> other.reduce(memory.of(8), failing, 0))
                            .isInstanceOf(ArithmeticException.class);

                    assertThatThrownBy(other::barrier).isInstanceOf(JobException.class)
                            .hasMessageContaining("reduce did not end");
                } else {
                    other.reduce(memory.of(8), failing, 0);
                }
                job.barrier();
            }
        });
    }

    /** Every operation, in the middle of which each of several ranks waits for others. */
    private enum Operation {
        BARRIER("barrier", (all, memory, size) -> all.barrier()),
        BROADCAST("broadcast", (all, memory, size) -> all.broadcast(memory.of(64), 1)),
        REDUCE("reduce", (all, memory, size) -> all.reduce(memory.of(64), AtomicOperation.SUM, Datatype.INT64, 0)),
        SHORT_ALL_REDUCE("all-reduce",
                (all, memory, size) -> all.allReduce(memory.of(64), AtomicOperation.SUM, Datatype.INT64)),
        LONG_ALL_REDUCE("all-reduce",
                (all, memory, size) -> all.allReduce(memory.of(1 << 15), AtomicOperation.SUM, Datatype.INT64)),
        REDUCE_SCATTER("reduce-scatter",
                (all, memory, size) -> all.reduceScatter(memory.of(64L * size), memory.of(64), AtomicOperation.SUM,
                        Datatype.INT64)),
        ALL_GATHER("all-gather", (all, memory, size) -> all.allGather(memory.of(64), memory.of(64L * size))),
        GATHER("gather", (all, memory, size) -> all.gather(memory.of(64), memory.of(64L * size), 0)),
        SCATTER("scatter", (all, memory, size) -> all.scatter(memory.of(64L * size), memory.of(64), 1)),
        ALL_TO_ALL("all-to-all", (all, memory, size) -> all.allToAll(memory.of(64L * size), memory.of(64L * size)));

        private final String title;
        private final Call call;

        Operation(String title, Call call) {
            this.title = title;
            this.call = call;
        }

        private interface Call {
            void run(JobCollectives all, Memory memory, int size);
        }
    }

    private static void runOrFail(Operation operation, JobCollectives all, Memory memory, int size) {
        try {
            operation.call.run(all, memory, size);
        } catch (JobException e) {
            return; // others have gone on without this rank
        }
    }

    /** Sleeps, and throws if it is still asked to wait many polls after a deadline. */
    private static final class PatientNoLonger implements Waiting {
        private static final int POLLS = 40;
        private final Duration deadline;
        private boolean isStarted;
        private long first;
        private int late;

        PatientNoLonger(Duration deadline) { this.deadline = deadline; }

        /** From the next pause on, it counts. */
        void start() { isStarted = true; }

        @Override
        public void pause(int turn) {
            long now = System.nanoTime();
            if (isStarted && first == 0) { first = now; }
            if (isStarted && now - first > deadline.toNanos() && ++late > POLLS) {
                throw new AssertionError("it goes on after its deadline");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    /**
     * Rank 0 comes first, the others one after the other, from the last one on, long before anybody's deadline begins
     * anew; and rank 1 when rank 0 has given up.
     */
    @Tag("nightly")
    @ParameterizedTest
    @EnumSource
    void anOperationHasOneDeadlineHoweverManyStepsItHas(Operation operation) {
        Duration deadline = Duration.ofSeconds(1);
        int size = 8;
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        inAJob("tcp;ofi_rxm", size, (job, _, memory) -> {
            PatientNoLonger patient = new PatientNoLonger(deadline);
            Waiting waiting = job.rank() == 0 ? patient : Waiting.BACKOFF;
            try (JobCollectives all = new JobCollectives(job, memory.domain(), waiting)) {
                all.allToAll(memory.of(8L * size), memory.of(8L * size)); // all are connected from now on
                job.barrier();
                all.deadline(deadline);
                if (job.rank() == 0) {
                    patient.start();
                    began.countDown();
                    try {
                        assertThatThrownBy(() -> operation.call.run(all, memory, size)).isInstanceOf(JobException.class)
                                .hasMessageMatching("rank 0 of 8 still waits in " + operation.title
                                        + " after 1.0 s for rank [1-7] \\(process " + ProcessHandle.current().pid()
                                        + " on .*\\).*");
                    } finally {
                        ended.countDown();
                    }
                } else {
                    await(began);
                    pause(deadline.toMillis() / 4 * (size - 1 - job.rank()));
                    if (job.rank() == 1) { await(ended); }
                    runOrFail(operation, all, memory, size);
                }
                job.barrier();
            }
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.seconds(60).toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("nightly")
    void anInterruptEndsTheWaitOfAnOperation(Operation operation) {
        CountDownLatch ended = new CountDownLatch(1);
        inAJob("tcp;ofi_rxm", 3, (job, _, memory) -> {
            Waiting waiting = turn -> { // once it has waited for long, in the sleep of the longest pauses
                if (turn == 2100) { Thread.currentThread().interrupt(); }
                Waiting.BACKOFF.pause(turn);
            };
            try (JobCollectives all = new JobCollectives(job, memory.domain(),
                    job.rank() == 0 ? waiting : Waiting.BACKOFF)) {
                job.barrier();
                if (job.rank() == 0) {
                    try {
                        assertThatThrownBy(() -> operation.call.run(all, memory, 3)).isInstanceOf(JobException.class)
                                .hasMessageMatching("rank 0 of 3 was interrupted in " + operation.title
                                        + " for rank [12] \\(process .*");
                        assertThat(Thread.interrupted()).isTrue();
                        assertThatThrownBy(all::barrier).isInstanceOf(JobException.class)
                                .hasMessageContaining(operation.title + " did not end");
                    } finally {
                        ended.countDown();
                    }
                }
                await(ended);
                job.barrier();
            }
        });
    }

    private static void fill(Slice slice, IntToLongFunction value) {
        for (int i = 0; i < slice.length() / LONG; i++) {
            slice.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, i * LONG, value.applyAsLong(i));
        }
    }

    private static void requireAll(Slice slice, IntToLongFunction value) {
        for (int i = 0; i < slice.length() / LONG; i++) {
            if (number(slice.segment(), i * LONG) != value.applyAsLong(i)) {
                throw new AssertionError(
                        "element " + i + " is " + number(slice.segment(), i * LONG) + ", not " + value.applyAsLong(i));
            }
        }
    }

    private static void rooted(Job job, JobCollectives all, Memory memory, int count, int root) {
        int me = job.rank();
        int size = job.size();
        Slice data = memory.numbers(count, i -> datum(me, i));
        all.broadcast(data, root);
        assertThat(numbers(data)).as("broadcast").isEqualTo(expected(count, i -> datum(root, i)));

        Slice summed = memory.numbers(count, i -> datum(me, i));
        all.reduce(summed, AtomicOperation.SUM, Datatype.INT64, root);
        if (me == root) { assertThat(numbers(summed)).as("reduce").isEqualTo(expected(count, i -> sum(size, i))); }

        Slice mine = memory.numbers(count, i -> datum(me, i));
        Slice gathered = memory.of(count * LONG * size);
        all.gather(mine, me == root ? gathered : null, root);
        if (me == root) {
            assertThat(numbers(gathered)).as("gather")
                    .isEqualTo(expected(count * size, i -> datum(i / count, i % count)));
        }

        Slice scattered = memory.of(count * LONG);
        Slice parts = me == root ? memory.numbers(count * size, i -> datum(root, i)) : null;
        all.scatter(parts, scattered, root);
        assertThat(numbers(scattered)).as("scatter").isEqualTo(expected(count, i -> datum(root, me * count + i)));
    }

    private static void reduces(Job job, JobCollectives all, Memory memory, int count) {
        int me = job.rank();
        int size = job.size();
        Slice summed = memory.numbers(count, i -> datum(me, i));
        all.allReduce(summed, AtomicOperation.SUM, Datatype.INT64);
        assertThat(numbers(summed)).as("all-reduce").isEqualTo(expected(count, i -> sum(size, i)));

        Slice largest = memory.numbers(2 * count, i -> i % 2 == 0 ? datum(me, i) : me);
        all.allReduce(largest, LARGEST);
        assertThat(numbers(largest)).as("all-reduce in Java").isEqualTo(expected(2 * count, i -> {
            int pair = i / 2 * 2;
            int owner = IntStream.range(0, size).reduce(0,
                    (one, other) -> datum(other, pair) > datum(one, pair) ? other : one);
            return i % 2 == 0 ? datum(owner, pair) : owner;
        }));

        Slice mine = memory.of(count * LONG);
        all.reduceScatter(memory.numbers(count * size, i -> datum(me, i)), mine, AtomicOperation.SUM, Datatype.INT64);
        assertThat(numbers(mine)).as("reduce-scatter").isEqualTo(expected(count, i -> sum(size, me * count + i)));
    }

    private static void blocks(Job job, JobCollectives all, Memory memory, int count) {
        int me = job.rank();
        int size = job.size();
        Slice gathered = memory.of(count * LONG * size);
        all.allGather(memory.numbers(count, i -> datum(me, i)), gathered);
        assertThat(numbers(gathered)).as("all-gather")
                .isEqualTo(expected(count * size, i -> datum(i / count, i % count)));

        Slice inPlace = memory.of(count * LONG * size);
        Slice own = inPlace.region().slice(me * count * LONG, count * LONG);
        fill(own, i -> datum(me, i));
        all.allGather(own, inPlace);
        assertThat(numbers(inPlace)).as("all-gather in place").isEqualTo(numbers(gathered));

        Slice exchanged = memory.of(count * LONG * size);
        all.allToAll(memory.numbers(count * size, i -> datum(me, i)), exchanged);
        assertThat(numbers(exchanged)).as("all-to-all")
                .isEqualTo(expected(count * size, i -> datum(i / count, me * count + i % count)));
    }

    @Test
    @Tag("once")
    void nobodyPassesABarrierBeforeAllHaveCome() {
        AtomicInteger came = new AtomicInteger();
        inAJob("tcp;ofi_rxm", 4, (job, all, memory) -> {
            for (int round = 1; round <= 20; round++) {
                if (job.rank() == round % 4) { pause(5); }
                came.incrementAndGet();
                all.barrier();
                assertThat(came.get()).as("those who came in round %d", round).isGreaterThanOrEqualTo(4 * round);
                all.barrier();
            }
        });
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void wrongLengthsAndRootsAreRefused() {
        inAJob("tcp;ofi_rxm", 1, (job, all, memory) -> {
            Slice seven = memory.of(7);
            Slice eight = memory.of(8);
            assertThatThrownBy(() -> all.allReduce(seven, AtomicOperation.SUM, Datatype.INT64))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not a multiple of the element size");
            assertThatThrownBy(() -> all.allGather(seven, eight)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> all.allToAll(seven, eight)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> all.broadcast(eight, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        });
    }
}
