package io.ofi4j.job.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values over lines of text. The launcher is in this process. */
@Timeout(600)
class Pmi1EngineTest {
    private static final Executor AT_ONCE = task -> Thread.ofPlatform().daemon().start(task);

    private final TextLauncher launcher = new TextLauncher(3);
    private final List<Pmi1Engine> ranks = IntStream.range(0, 3)
            .mapToObj(rank -> Pmi1Engine.join(launcher.lines(rank), rank, 3, Deadline.in(Pair.DEADLINE))).toList();

    private static Wait soon() { return new Wait(Deadline.in(Pair.DEADLINE), null); }

    private static byte[] random(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 500, 65_536})
    void aGatheringBringsValuesThatAreLongerThanALine(int length) throws Exception {
        for (int round = 0; round < 3; round++) {
            int seed = round;
            List<CompletableFuture<List<byte[]>>> all = ranks.stream()
                    .map(rank -> CompletableFuture
                            .supplyAsync(() -> rank.gather(random(seed + rank.rank(), length), soon()), AT_ONCE))
                    .toList();
            for (CompletableFuture<List<byte[]>> one : all) {
                List<byte[]> values = one.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
                for (int rank = 0; rank < 3; rank++) {
                    assertThat(values.get(rank)).isEqualTo(random(seed + rank, length));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 700, 65_536})
    void aValueIsSeenWithoutABarrier(int length) {
        ranks.getFirst().put("a name with spaces = 'x'", random(1, length), Deadline.in(Pair.DEADLINE));

        assertThat(ranks.get(1).get(0, "a name with spaces = 'x'", soon())).isEqualTo(random(1, length));
    }

    @Test
    void aWaitThatMakesProgressGetsAValueThatIsPutLater() {
        int[] turns = new int[1];
        byte[] value = ranks.getFirst().get(1, "later", new Wait(Deadline.in(Pair.DEADLINE), () -> {
            if (++turns[0] == 5) { ranks.get(1).put("later", new byte[]{7}, Deadline.in(Pair.DEADLINE)); }
        }));

        assertThat(value).containsExactly(7);
    }

    @Test
    void whoHasNotPutAValueIsNamed() {
        assertThatThrownBy(() -> ranks.getFirst().get(2, "never", new Wait(Deadline.in(Duration.ofMillis(50)), null)))
                .isInstanceOfSatisfying(LauncherException.class, e -> assertThat(e.ranks()).containsExactly(2))
                .hasMessage("did not put the value within 50 ms");
    }

    @Test
    void aLauncherWithoutNamesIsNamed() {
        Pmi1Lines without = new Pmi1Lines() {
            private final Pmi1Lines lines = launcher.lines(0);
            private boolean isName;

            @Override
            public void send(String line) {
                isName = line.startsWith("cmd=publish_name");
                lines.send(line);
            }

            @Override
            public String receive(int millis) {
                String answer = lines.receive(millis);
                return isName && answer != null ? "cmd=publish_result rc=-1 msg=unsupported" : answer;
            }
        };
        Pmi1Engine engine = Pmi1Engine.join(without, 0, 3, Deadline.in(Pair.DEADLINE));

        assertThatThrownBy(() -> engine.put("name", new byte[1], Deadline.in(Pair.DEADLINE)))
                .hasMessageContaining("it publishes no values of single ranks");
    }

    @Test
    void aBarrierPutsNothing() throws Exception {
        List<CompletableFuture<Void>> all = ranks.stream()
                .map(rank -> CompletableFuture.runAsync(() -> rank.barrier(soon()), AT_ONCE)).toList();
        for (CompletableFuture<Void> one : all) {
            one.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        }

        assertThat(launcher.keys()).isZero();
    }
}
