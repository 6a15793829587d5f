package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Waiting;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.Launcher;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a job waits for ends in time, and a wait that has no end does not stop. Both ranks are in this process. */
@Timeout(120)
class JobDeadlineTest {
    /** A launcher of two ranks, which does not answer when they leave. */
    private record Silent(int rank, CompletableFuture<String> line) implements Launcher {
        @Override
        public String name() { return "a silent launcher"; }

        @Override
        public int size() { return 2; }

        @Override
        public String exchange(String own) {
            if (rank == 0) { line.complete(own); }
            return line.join();
        }

        @Override
        public void finish() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void abort(int code, String why) { throw new AssertionError(why); }
    }

    private static <T> T[] both(Function<Silent, T> join, T[] ranks) throws Exception {
        CompletableFuture<String> line = new CompletableFuture<>();
        CompletableFuture<T> other = CompletableFuture.supplyAsync(() -> join.apply(new Silent(1, line)));
        ranks[0] = join.apply(new Silent(0, line));
        ranks[1] = other.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        return ranks;
    }

    @Test
    void closeEndsThoughTheLauncherDoesNotAnswer() throws Exception {
        Job[] ranks = both(launcher -> Job.join(launcher, Deadline.in(Duration.ofSeconds(5))), new Job[2]);

        assertThatThrownBy(ranks[1]::close).isInstanceOf(JobException.class)
                .hasMessageContaining("the launcher did not answer within");
        assertThatThrownBy(ranks[0]::close).isInstanceOf(JobException.class)
                .hasMessageContaining("the launcher did not answer within");
        assertThatThrownBy(ranks[0]::barrier).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
    }

    @Test
    void theLongestDurationIsADeadline() throws Exception {
        Job[] ranks = both(launcher -> Job.join(launcher, Deadline.in(Duration.ofSeconds(Long.MAX_VALUE))), new Job[2]);

        ranks[0].put("name", new byte[]{1});
        assertThat(ranks[1].get(0, "name")).containsExactly(1);
        assertThat(ranks[1].deadline()).isEqualTo(Duration.ofSeconds(Long.MAX_VALUE));
    }

    /** As after a day, if each wait were as long as usual. */
    @Test
    void aRankThatIsLostAfterManyWaitsForItIsNamed() throws Exception {
        JobMembers[] ranks = both(launcher -> JobMembers.join(launcher, "rank " + launcher.rank(),
                Deadline.in(Pair.DEADLINE), launcher::exchange, Duration.ofMillis(10)), new JobMembers[2]);
        Thread.sleep(200);
        ranks[1].fail("it is tired");

        Waiting.BACKOFF.until(() -> ranks[0].lost() != null, Pair.DEADLINE);
        assertThat(ranks[0].lost()).isEqualTo("rank 1 gave up: it is tired");
        ranks[0].close(Duration.ZERO);
    }
}
