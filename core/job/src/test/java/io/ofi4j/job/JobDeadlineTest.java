package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.LauncherException;
import io.ofi4j.job.internal.Meeting;
import io.ofi4j.job.internal.Pmi1Engine;
import io.ofi4j.job.internal.TextLauncher;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a job waits for ends in time, and a wait that has no end does not stop. Both ranks are in this process. */
@Tag("gate")
@Tag("once") // what it is about is the job, not libfabric
@Timeout(600)
class JobDeadlineTest {
    private static final Duration SHORT = Duration.ofMillis(500);

    private static <T> List<T> both(IntFunction<T> join) throws Exception {
        CompletableFuture<T> other = CompletableFuture.supplyAsync(() -> join.apply(1));
        return List.of(join.apply(0), other.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
    }

    private static Job join(TextLauncher launcher, int rank, Duration deadline) {
        Deadline end = Deadline.in(deadline);
        return Job.join(Pmi1Engine.join(launcher.lines(rank), rank, launcher.size(), end), end);
    }

    private static IntFunction<Meeting> meetings() {
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.find());
        String secret = Rendezvous.newSecret();
        return rank -> new Meeting("this test", rank, 2, at, secret);
    }

    @Test
    void closeEndsThoughTheLauncherDoesNotAnswer() {
        TextLauncher launcher = new TextLauncher(1);
        Job job = join(launcher, 0, Duration.ofSeconds(5));
        launcher.ignore("finalize");

        assertThatThrownBy(job::close).isInstanceOf(JobException.class)
                .hasMessageContaining("the launcher did not answer 'cmd=finalize' within 5.0 s");
        assertThatThrownBy(job::barrier).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
    }

    @Test
    void aBarrierEndsThoughItsAnswerDoesNotComeAndTheJobStaysBroken() {
        TextLauncher launcher = new TextLauncher(1);
        Job job = join(launcher, 0, SHORT.multipliedBy(10));
        launcher.ignore("barrier_in");

        assertThatThrownBy(job::barrier).isInstanceOf(JobException.class)
                .hasMessageContaining("a rank has not come, or has gone");
        assertThatThrownBy(job::check).isInstanceOf(JobException.class);
        assertThatThrownBy(() -> job.put("name", new byte[1])).isInstanceOf(JobException.class);
        try (Pair pair = new Pair("tcp;ofi_rxm")) {
            assertThatThrownBy(() -> Ranks.lazy(job, pair.endpoint, pair.vector)).isInstanceOf(JobException.class);
        }
        job.close();
    }

    /** The other rank, which never comes, may have gone on. An interrupt is what ends a wait without a clock. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aJobStaysBrokenAfterABarrierThatDidNotEnd(boolean makesProgress) {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.find());
        String secret = Rendezvous.newSecret();
        Deadline end = Deadline.in(Pair.DEADLINE);
        IntFunction<Job> joining = rank -> Job.join(
                RendezvousEngine.join(new Meeting("this test", rank, 2, server, secret), "rank " + rank, end), end);
        CompletableFuture<Job> joined = CompletableFuture.supplyAsync(() -> joining.apply(1));
        try (Pair pair = new Pair("tcp;ofi_rxm"); Job job = joining.apply(0); Job _ = joined.join()) {
            if (makesProgress) { job.progressWhileWaiting(pair.queue); }
            Thread.currentThread().interrupt();
            assertThatThrownBy(job::barrier).isInstanceOf(JobException.class).hasMessageContaining("interrupted");

            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(job::check).isInstanceOf(JobException.class).hasMessageContaining("interrupted");
            assertThatThrownBy(job::barrier).isInstanceOf(JobException.class).hasMessageContaining("interrupted");
        }
    }

    @Test
    void aQueueThatThisThreadMayNotUseBreaksNoJob() throws Exception {
        Job job = join(new TextLauncher(1), 0, Pair.DEADLINE);
        try (Fabric fabric = Libfabric.load().openFabric(
                Libfabric.load().info(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN)).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue()) {
            job.progressWhileWaiting(queue);
            job.barrier(); // this thread is the domain's from now on
            CompletableFuture<Void> refused = CompletableFuture.runAsync(job::barrier);

            assertThatThrownBy(() -> refused.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS))
                    .hasRootCauseInstanceOf(WrongThreadException.class);
            job.barrier();
        }
        job.close();
    }

    @Test
    void aNameIsPutOnce() throws Exception {
        TextLauncher launcher = new TextLauncher(1);
        Job job = join(launcher, 0, Pair.DEADLINE);
        job.put("name", new byte[]{1});

        assertThatThrownBy(() -> job.put("name", new byte[]{2})).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has put 'name' already");
        assertThat(job.get(0, "name")).containsExactly(1);
    }

    @Test
    void theLongestDurationIsADeadline() throws Exception {
        IntFunction<Meeting> meetings = meetings();
        List<Job> ranks = both(rank -> {
            Deadline end = Deadline.in(Duration.ofSeconds(Long.MAX_VALUE));
            return Job.join(RendezvousEngine.join(meetings.apply(rank), "rank " + rank, end), end);
        });

        ranks.getFirst().put("name", new byte[]{1});
        assertThat(ranks.getLast().get(0, "name")).containsExactly(1);
        assertThat(ranks.getLast().deadline()).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
        ranks.getLast().close();
        ranks.getFirst().close();
    }

    /** As after a day, if each wait were as long as usual. */
    @Test
    void aRankThatIsLostAfterManyWaitsForItIsNamed() throws Exception {
        IntFunction<Meeting> meetings = meetings();
        List<RendezvousEngine> ranks = both(rank -> RendezvousEngine.join(meetings.apply(rank), "rank " + rank,
                Deadline.in(Pair.DEADLINE), Duration.ofMillis(10)));
        Thread.sleep(200);
        ranks.getLast().abort(1, "it is tired");

        Waiting.BACKOFF.until(() -> ranks.getFirst().lost() != null, Pair.DEADLINE);
        assertThat(ranks.getFirst().lost()).hasMessage("rank 1 gave up: it is tired");
        ranks.getFirst().leave(Deadline.in(Duration.ZERO), null);
    }

    @Test
    void anInterruptOfTheThreadThatWatchesARankLosesNone() throws Exception {
        IntFunction<Meeting> meetings = meetings();
        List<RendezvousEngine> ranks = both(rank -> RendezvousEngine.join(meetings.apply(rank), "rank " + rank,
                Deadline.in(Pair.DEADLINE), Duration.ofMillis(10)));
        for (int i = 0; i < 10; i++) {
            Thread.getAllStackTraces().keySet().stream().filter(one -> one.getName().equals("ofi4j-job-watch"))
                    .forEach(Thread::interrupt);
            Thread.sleep(20); // longer than a wait for the loss of a rank
        }
        assertThat(ranks.getFirst().lost()).isNull();
        assertThat(ranks.getLast().lost()).isNull();
        ranks.getLast().abort(1, "it is tired");

        Waiting.BACKOFF.until(() -> ranks.getFirst().lost() != null, Pair.DEADLINE);
        ranks.getFirst().leave(Deadline.in(Duration.ZERO), null);
    }

    /** Its barrier has failed; with the rank that has left, not with one that has died. */
    @Test
    void aRankThatClosesWhileItIsInterruptedHasLeft() throws Exception {
        List<Job> ranks = both(jobs());
        Thread.currentThread().interrupt();
        ranks.getLast().close();
        assertThat(Thread.interrupted()).isTrue();

        assertThatThrownBy(ranks.getFirst()::barrier).isInstanceOf(JobException.class)
                .hasMessageEndingWith("has left already");
        ranks.getFirst().close();
    }

    @Test
    void rank0ServesTheOthersUntilTheyHaveLeftThoughItsCloseIsInterrupted() throws Exception {
        List<Job> ranks = both(jobs());
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        Thread closing = Thread.ofPlatform().daemon().start(() -> {
            Thread.currentThread().interrupt();
            ranks.getFirst().close();
            closed.complete(Thread.currentThread().isInterrupted());
        });
        Waiting.BACKOFF.until(() -> closing.getState() == Thread.State.WAITING || closed.isDone(), Pair.DEADLINE);
        closing.interrupt();
        Thread.sleep(1500); // longer than a server that is closed answers
        ranks.getLast().put("name", new byte[]{1});
        assertThat(ranks.getLast().get(1, "name")).containsExactly(1);
        ranks.getLast().close();

        assertThat(closed.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }

    /** The others know then that nobody has died. */
    @Test
    void whyARank0ThatDoesNotWaitLongerHasClosedIsToldToTheOthers() throws Exception {
        IntFunction<Meeting> meetings = meetings();
        List<RendezvousEngine> ranks = both(
                rank -> RendezvousEngine.join(meetings.apply(rank), "rank " + rank, Deadline.in(Pair.DEADLINE)));
        Waiting.BACKOFF.until(() -> watchesThatWait() == 2, Pair.DEADLINE);
        ranks.getFirst().leave(Deadline.in(Duration.ofMillis(10)), null);

        Waiting.BACKOFF.until(() -> ranks.getLast().lost() != null, Pair.DEADLINE);
        assertThat(ranks.getLast().lost()).hasMessage(
                "rank 0 has closed the job, and did not wait longer than 10 ms for the other ranks to close it");
        ranks.getLast().leave(Deadline.in(Duration.ZERO), null);
    }

    /** The threads that wait for the server's answer to their question whether a rank was lost. */
    private static long watchesThatWait() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("ofi4j-job-watch"))
                .filter(thread -> Arrays.stream(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().equals(SealedChannel.class.getName())
                                && frame.getMethodName().equals("receive")))
                .count();
    }

    private static IntFunction<Job> jobs() {
        IntFunction<Meeting> meetings = meetings();
        return rank -> {
            Deadline end = Deadline.in(Pair.DEADLINE);
            return Job.join(RendezvousEngine.join(meetings.apply(rank), "rank " + rank, end), end);
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theSecondProcessOfARankIsRefusedByName(int twice) throws Exception {
        IntFunction<Meeting> meetings = meetings();
        List<RendezvousEngine> ranks = both(rank -> RendezvousEngine.join(meetings.apply(rank),
                "rank " + rank + " of the first", Deadline.in(Pair.DEADLINE)));

        assertThatThrownBy(() -> RendezvousEngine.join(meetings.apply(twice), "the second", Deadline.in(Pair.DEADLINE)))
                .isInstanceOf(LauncherException.class).hasMessageContaining("rank " + twice + " of 2 did not join")
                .hasMessageContaining("rank " + twice + " of the first").hasMessageContaining("already")
                .hasMessageEndingWith("a rank of its own: OFI4J_RANK.");
        assertThat(ranks.getFirst().lost()).isNull();
        ranks.getLast().leave(Deadline.in(Pair.DEADLINE), null);
        ranks.getFirst().leave(Deadline.in(Pair.DEADLINE), null);
    }

    @Test
    void whoWaitsForARank0ThatNeverComesIsToldTheReasonAndWhoIsMissing() {
        assertThatThrownBy(() -> RendezvousEngine.join(meetings().apply(1), "rank 1", Deadline.in(SHORT)))
                .isInstanceOf(LauncherException.class).hasMessageContaining("was not joined within 500 ms: Connection")
                .hasMessageContaining("refused").hasMessageEndingWith("Rank 0 should listen there: has it started?");
    }

    @Test
    void aRendezvousOfTooManyRanksIsRefused() {
        Meeting meeting = new Meeting("this test", 1, 513, new InetSocketAddress(1), Rendezvous.newSecret());

        assertThatThrownBy(() -> RendezvousEngine.join(meeting, "rank 1", Deadline.in(SHORT)))
                .hasMessageContaining("at most 512 ranks, not 513: start it with mpirun or srun");
    }
}
