package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Groups of ranks that are threads of this process. {@link JobTest} has processes. */
@Tag("gate")
@Tag("once")
class JobGroupTest {
    private static final String SOCKETS = "sockets";
    private static final int COLUMNS = 3;
    private static final int SIZE = 2 * COLUMNS;

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.TAGGED);
    }

    /** The sum of a number of each member, at this rank. */
    private static long sum(JobCollectives members, MemoryRegion region, long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, number);
        members.allReduce(region.slice(0, 8), AtomicOperation.SUM, Datatype.INT64);
        return region.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Over sockets a rank has once not come, by chance. */
    static Stream<String> providers() {
        return TestProviders.rma().filter(provider -> !provider.equals(SOCKETS));
    }

    @ParameterizedTest
    @MethodSource("providers")
    void groupsThatOverlapHaveCollectivesOfTheirMembersAlone(String provider) { requireSums(provider); }

    @Test
    @Tag("long")
    void groupsThatOverlapHaveThemOverSocketsToo() { requireSums(SOCKETS); }

    /** Six ranks in two rows and three columns: each rank is in one of both. */
    private static void requireSums(String provider) {
        JobOfThreads.run(hints(provider), SIZE, (job, domain) -> {
            int row = job.rank() / COLUMNS;
            int column = job.rank() % COLUMNS;
            JobGroup rowGroup = job.split(row, 0);
            JobGroup columnGroup = JobGroup.of(job, List.of(column, column + COLUMNS));
            assertThat(rowGroup.jobRanks()).containsExactly(3 * row, 3 * row + 1, 3 * row + 2);
            assertThat(rowGroup.rank()).isEqualTo(column);
            assertThat(columnGroup.rank()).isEqualTo(row);
            try (MemoryRegion region = domain.allocate(8, Access.SEND, Access.RECEIVE);
                    JobCollectives rows = new JobCollectives(rowGroup, domain, Waiting.BACKOFF);
                    JobCollectives columns = new JobCollectives(columnGroup, domain, Waiting.BACKOFF)) {
                long inRow = sum(rows, region, 1L << 8 * job.rank());
                assertThat(inRow).isEqualTo(0x010101L << 24 * row);
                long inColumn = sum(columns, region, 1L << 8 * job.rank());
                assertThat(inColumn).isEqualTo(0x01000001L << 8 * column);
                assertThat(sum(columns, region, inRow)).isEqualTo(0x010101010101L);
                rows.broadcast(region.slice(0, 8), 2);
                columns.barrier();
                rows.barrier();
            }
            job.barrier();
        });
    }

    @Test
    void aSplitOrdersMembersByKeyAndThenByRank() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 4, (job, _) -> {
            JobGroup backwards = job.split(7, -job.rank());
            assertThat(backwards.jobRanks()).containsExactly(3, 2, 1, 0);
            assertThat(backwards.rank()).isEqualTo(3 - job.rank());
            JobGroup alone = job.split(job.rank(), 0);
            assertThat(alone.jobRanks()).containsExactly(job.rank());
            JobGroup all = job.split(Integer.MIN_VALUE, 5);
            assertThat(all.jobRanks()).containsExactly(0, 1, 2, 3);
            job.barrier();
        });
    }

    @Test
    void membersOpenSeveralObjectsOfTheSameGroup() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 3, (job, domain) -> {
            if (job.rank() < 2) {
                JobGroup two = JobGroup.of(job, List.of(1, 0));
                try (MemoryRegion region = domain.allocate(8, Access.SEND, Access.RECEIVE);
                        JobCollectives first = new JobCollectives(two, domain, Waiting.BACKOFF);
                        JobCollectives second = new JobCollectives(two, domain, Waiting.BACKOFF)) {
                    assertThat(sum(first, region, job.rank() + 1)).isEqualTo(3);
                    assertThat(sum(second, region, job.rank() + 5)).isEqualTo(11);
                    second.barrier();
                    first.barrier();
                }
            }
            job.barrier();
        });
    }

    /** Some providers give a message that came early to a receive of another endpoint of the domain. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anObjectTakesItsOwnMessagesAlone(String provider) {
        JobOfThreads.run(hints(provider), 2, (job, domain) -> {
            try (MemoryRegion region = domain.allocate(8, Access.SEND, Access.RECEIVE);
                    JobCollectives late = new JobCollectives(job, domain, Waiting.BACKOFF);
                    JobCollectives early = new JobCollectives(job, domain, Waiting.BACKOFF);
                    JobCollectives between = new JobCollectives(job, domain, Waiting.BACKOFF)) {
                if (job.rank() == 0) { assertThat(broadcast(early, region, job, 1)).isEqualTo(1); }
                assertThat(broadcast(between, region, job, 2)).isEqualTo(2); // rank 1 gets the first one meanwhile
                job.barrier();
                assertThat(broadcast(late, region, job, 3)).isEqualTo(3);
                if (job.rank() == 1) { assertThat(broadcast(early, region, job, 0)).isEqualTo(1); }
                late.barrier();
            }
            job.barrier();
        });
    }

    /** The number that rank 0 gives, at this rank. */
    private static long broadcast(JobCollectives all, MemoryRegion region, Job job, long number) {
        region.segment().set(ValueLayout.JAVA_LONG, 0, job.rank() == 0 ? number : -1);
        all.broadcast(region.slice(0, 8), 0);
        return region.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    @Test
    void theRanksOfOneHostAreAGroupWithoutAMessage() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 2, (job, _) -> {
            assertThat(job.hostGroup().jobRanks()).containsExactly(0, 1);
            assertThat(job.hostGroup().rankOf(1)).isEqualTo(OptionalInt.of(1));
            assertThat(JobGroup.of(job, List.of(job.rank())).rankOf(1 - job.rank())).isEmpty();
            job.barrier();
        });
    }

    @Test
    void aListThatIsNoGroupIsRefused() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 2, (job, _) -> {
            int other = 1 - job.rank();
            assertThatIllegalArgumentException().isThrownBy(() -> JobGroup.of(job, List.of(other)))
                    .withMessageContaining("rank " + job.rank() + " is not in the group");
            assertThatIllegalArgumentException().isThrownBy(() -> JobGroup.of(job, List.of(0, 1, 0)))
                    .withMessageContaining("twice");
            assertThatIllegalArgumentException().isThrownBy(() -> JobGroup.of(job, List.of(job.rank(), 2)))
                    .withMessageContaining("from 0 to 1 of its job, not 2");
            job.barrier();
        });
    }

    /** Messages name ranks of the job, which launchers and people know, and not those of the group. */
    @Test
    void whoIsAwaitedInAGroupIsNamedByItsRankInTheJob() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 3, (job, domain) -> {
            if (job.rank() == 0) {
                job.barrier();
            } else {
                awaitInAGroup(job, domain);
            }
        });
    }

    private static void awaitInAGroup(Job job, Domain domain) {
        JobGroup group = JobGroup.of(job, IntStream.of(2, 1).boxed().toList());
        try (JobCollectives members = new JobCollectives(group, domain, Waiting.BACKOFF)) {
            members.barrier();
            if (job.rank() == 1) {
                members.deadline(Duration.ofMillis(300));
                assertThatThrownBy(members::barrier).isInstanceOf(JobException.class)
                        .hasMessageStartingWith("rank 1 of 3 still waits in barrier after 300 ms for rank 2 (process ");
            }
            job.barrier(); // until then rank 2 is there, and does not come
        }
    }
}
