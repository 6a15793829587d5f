package io.ofi4j.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs that mix messages, tags, atomics and one-sided transfers, between endpoints and the contexts that a
 * provider has, in a JVM of its own for each provider; see {@link MessageProgram}. {@code -Dofi4j.model.programs=N}
 * runs so many, {@code -Dofi4j.model.seed=N} from that one on.
 */
@Tag("gate")
class MessageProgramTest {
    private static final long FIRST_SEED = Long.getLong("ofi4j.model.seed", 1);
    private static final long PROGRAMS = Long.getLong("ofi4j.model.programs", 5);
    private static final int LEAST = 50;

    static Stream<String> providers() { return TestProviders.transfers(); }

    /** What contexts the provider has, as the program says it. */
    private static List<String> shapes(String provider) {
        Stream<MessageWorld.Shape> shapes = provider.equals("sockets")
                ? Stream.of(MessageWorld.Shape.values())
                : provider.startsWith("MSG ")
                        ? Stream.of(MessageWorld.Shape.PLAIN, MessageWorld.Shape.SHARED_RECEIVE)
                        : Stream.of(MessageWorld.Shape.PLAIN);
        return shapes.map(shape -> "shape " + shape).toList();
    }

    @ForEachProvider
    @MethodSource("providers")
    void everyMessageArrivesOnceAndEveryTokenComesBackOnce(String provider) {
        Forked.Result result = Forked
                .start(MessageProgram.class, provider, Long.toString(FIRST_SEED), Long.toString(PROGRAMS))
                .await(120 + PROGRAMS);
        assertThat(result.exit()).as(result.output()).isZero();
        String last = result.output().lines().filter(line -> line.startsWith("messages ")).findFirst().orElseThrow();
        assertThat(result.output()).contains(shapes(provider));
        assertThat(Integer.parseInt(last.substring("messages ".length()))).isGreaterThan((int) PROGRAMS * LEAST);
    }
}
